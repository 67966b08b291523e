"""Leading eigenpairs of matrices that are known by their products.

scipy's eigsh multiplies one vector at a time. For a matrix in memory it is faster (ProNE's, 3.3
against 4.4 s). For blocks that are computed again in each product it is too slow: NetMF of 4,096
nodes without kept blocks takes 35 s of CPU time with this module, and had not ended after 350 s
with eigsh. One method serves both.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.progress import readable, terminal_progress

Matrix = NDArray[Any]
Product = Callable[[Matrix], Matrix]

_PER_MILLE = 1000  # what progress is counted in
_PASSES = 300  # products with a block of vectors, after which the result is accepted


class Search(NamedTuple):
    """How to search for eigenpairs."""

    block: int = 32
    """Vectors in a pass."""
    tolerance: float = 1e-9
    """Largest error ‖Av − λv‖, as a share of the largest eigenvalue's size."""
    confirm: int = 5
    """Passes from new random vectors that look for pairs that were missed: a block finds an
    eigenvalue only as many times as it has vectors. Not needed where it has `rank` of them."""
    dtype: Any = np.float64
    """The type of the vectors; small matrices within the method are always float64."""
    importance: Callable[[Matrix], Matrix] = np.abs
    """Ranks eigenvalues; by default by their absolute value."""

    def most(self, rank: int) -> int:
        """Return how many vectors the search space has at most."""
        return 2 * rank + 5 * self.block

    def bytes_for(self, n: int, rank: int) -> int:
        """Estimate the memory of the search for `rank` leading eigenvectors."""
        most = self.most(rank)
        if n <= most:  # the whole matrix
            return 6 * 8 * n * n
        passing = max(6 * self.block, 2 * rank + 4 * self.block)  # a pass, or a restart: measured
        return n * (most + passing) * self._itemsize() + 6 * 8 * most**2

    def bytes_of_first_pass(self, n: int) -> int:
        """Estimate the part of it that is touched by the first product."""
        return 7 * n * self.block * self._itemsize()

    def _itemsize(self) -> int:
        return int(np.dtype(self.dtype).itemsize)

    def ordered(self, values: Matrix) -> Matrix:
        """Return the places of eigenvalues, the most important first."""
        return np.argsort(-self.importance(values), kind="stable")


def leading_eigenpairs(
    product: Product,
    n: int,
    rank: int,
    rng: np.random.Generator,
    search: Search,
    progress: bool = False,
) -> tuple[NDArray[np.float64], Matrix]:
    """Return the most important eigenvalues of a symmetric matrix, and orthonormal eigenvectors.

    There are `rank` of them, or `n` if the matrix has fewer rows. `product` multiplies it with an
    array (n, any number); the first vectors are random.

    A block Lanczos method with thick restarts: each pass adds `block` vectors, the residuals of the
    eigenvectors found so far, to the search space, which is cut back to the best ones when it is
    large. Blocks find multiple eigenvalues, as graphs with equal components have; a second search
    finds those with a larger multiplicity. Memory: n (2 rank + 7 block) numbers.
    """
    block, dtype, most = search.block, search.dtype, search.most(rank)
    if n <= most:
        values, vectors = np.linalg.eigh(_symmetric(product(np.eye(n, dtype=dtype))))
        order = search.ordered(values)[:rank]
        return values[order], vectors[:, order]
    basis = np.empty((n, most), dtype, order="F")
    small = np.zeros((most, most))  # the matrix, as seen within the basis
    filled, searched, new = 0, 0, _random(n, basis[:, :0], search, rng)
    report = _terminal_report(rank, search.tolerance, progress)
    for _ in range(_PASSES):
        fresh = slice(filled, filled + block)
        basis[:, fresh] = new
        filled += block
        image = product(new)
        small[:filled, fresh] = basis[:, :filled].T @ image
        small[fresh, :filled] = small[:filled, fresh].T
        new, leaving = orthonormal(image, basis[:, :filled], rng)
        values, turns = np.linalg.eigh(_symmetric(small[:filled, :filled]))
        order = search.ordered(values)[: rank + block]
        values, turns = values[order], turns[:, order]
        # only products with the latest block leave the space: they tell how wrong a pair is
        errors = np.linalg.norm(leaving @ turns[fresh], axis=0)
        largest = np.abs(values).max()
        report(errors[:rank] / largest if largest > 0 else errors[:rank])
        exact = filled >= rank and not (errors > search.tolerance * largest)[:rank].any()
        searched = searched + 1 if exact else 0
        if searched > search.confirm or (exact and block >= rank):
            break
        if filled + block > most or searched == 1:
            filled = rank if searched == 1 else len(values)
            basis[:, :filled] = basis[:, : turns.shape[0]] @ turns[:, :filled].astype(dtype)
            small[:filled, :filled] = np.diag(values[:filled])
            turns = np.eye(filled)
        if searched == 1:
            new = _random(n, basis[:, :filled], search, rng)
    report(np.zeros(rank))
    return values[:rank], basis[:, :filled] @ turns[:, :rank].astype(dtype)


def _random(n: int, basis: Matrix, search: Search, rng: np.random.Generator) -> Matrix:
    """Return random vectors that are orthonormal, also to a basis."""
    return orthonormal(rng.standard_normal((n, search.block)).astype(search.dtype), basis, rng)[0]


def _terminal_report(rank: int, tolerance: float, progress: bool) -> Callable[[Matrix], None]:
    """Return what shows progress, from the relative errors of the pairs after each product.

    What is done is the mean share of the digits that a pair needs: errors fall by about the same
    factor in each product.
    """
    products, began = 0, time.perf_counter()

    def rate() -> str:
        return f"{readable(products / max(time.perf_counter() - began, 1e-9))} products/s"

    show = terminal_progress("finding eigenvectors", "", progress, more=rate)

    def report(errors: Matrix) -> None:
        nonlocal products
        products += 1
        digits = np.log(np.maximum(errors, tolerance)) / np.log(tolerance)
        share = float(np.clip(digits, 0, 1).sum()) / rank
        show(int(_PER_MILLE * share), _PER_MILLE)

    return report


def orthonormal(
    new: Matrix, basis: Matrix, rng: np.random.Generator
) -> tuple[Matrix, NDArray[np.float64]]:
    """Return what `new` adds to an orthonormal basis: new = basis · something + added · coupling.

    Returns `added`, orthonormal and orthogonal to the basis, and the coupling. Where `new` adds
    nothing but rounding, `added` has random vectors, and the coupling zeros.
    """
    added, coupling = _turned(new - basis @ (basis.T @ new))
    lost = ~coupling.any(axis=1)
    added[:, lost] = rng.standard_normal((len(new), np.count_nonzero(lost))) / len(new) ** 0.5
    for _ in range(1 + lost.any()):  # again, for the digits that were lost where little was left
        added, turn = _turned(added - basis @ (basis.T @ added))
        coupling = turn @ coupling
    return added, coupling


def _turned(matrix: Matrix) -> tuple[Matrix, NDArray[np.float64]]:
    """Return a matrix as orthonormal columns times a square matrix, by the eigenvectors of MᵗM.

    Where columns are nearly dependent, both factors have zeros.
    """
    values, turns = np.linalg.eigh(_symmetric(matrix.T @ matrix))
    rounding = 100 * np.finfo(matrix.dtype).eps * values.max(initial=0.0)
    sizes = np.sqrt(np.where(values > rounding, values, 0))
    inverse = np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return matrix @ (turns * inverse).astype(matrix.dtype), (turns * sizes).T


def _symmetric(matrix: Matrix) -> NDArray[np.float64]:
    matrix = matrix.astype(np.float64)
    return (matrix + matrix.T) / 2
