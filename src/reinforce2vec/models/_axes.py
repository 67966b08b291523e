"""The axes of smoothed vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..graph.matrices import roots_of, with_fixed_signs

_Matrix = NDArray[np.float64]


def axes_from(values: _Matrix, vectors: _Matrix) -> _Matrix:
    """Return a matrix B such that X B = U √S, where X = U S Vᵗ is the singular value decomposition.

    Takes the eigenvalues of XᵗX, ascending, and its eigenvectors as columns. Axes are sorted by
    their singular values, the largest first, and have fixed signs. An axis with nothing but
    rounding errors of float32 is zero.
    """
    _, inverse = roots_of(np.sqrt(np.maximum(values[::-1], 0)), np.float32)
    return np.asarray(with_fixed_signs(vectors[:, ::-1]) * inverse)
