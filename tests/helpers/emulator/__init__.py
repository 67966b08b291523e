"""A stand-in for CuPy made of NumPy and the host's C++ compiler.

It has what reinforce2vec uses of CuPy and no more. "Device" arrays live in host memory, but are
no NumPy arrays, so that code which mixes the two up fails as it would with CuPy; what they take is
counted, and there is an end to it. Kernels are the package's own CUDA C++ sources, compiled against
`cuda_host.h`, and kept on disk by a hash of what went into them.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import weakref
from functools import cache
from pathlib import Path
from threading import Lock, RLock
from types import SimpleNamespace
from typing import Any

import numpy as np

__version__ = "13.0-emulated"

HEADER = Path(__file__).with_name("cuda_host.h")
COMPILER = shutil.which("g++") if sys.platform == "linux" else None
FLAGS = ("-O2", "-std=c++17", "-ffp-contract=off", "-fno-strict-aliasing", "-shared", "-fPIC", "-w")
IGNORED_OPTIONS = ("--std=", "--fmad=", "--use_fast_math", "--gpu-architecture=", "-lineinfo")
MEMORY = 8 << 30  # bytes that the device has
UNIT = 512  # bytes in which it is handed out
GARBAGE = 0xA5  # what memory holds that nobody has written to
USUAL_SHARED = 48 << 10  # bytes of shared memory that a block gets by default
MOST_SHARED = 232448  # and at most
AT_WORK = Lock()  # the device has one kernel under way at a time, whoever launched it


# -- memory --------------------------------------------------------------------------------------


class OutOfMemoryError(MemoryError):
    """There is not so much left on the device."""


class Pool:
    """What is in use on the device. Nothing is kept for later."""

    def __init__(self) -> None:
        self._used = 0
        self._lock = RLock()  # memory may be given back in the middle of taking some

    def take(self, size: int) -> np.ndarray:
        """So many bytes from a multiple of 256 on; given back when nothing looks at them."""
        whole = -(-size // UNIT) * UNIT
        with self._lock:
            if self._used + whole > MEMORY:
                raise OutOfMemoryError(f"out of memory: {whole:,} bytes, {self._used:,} in use")
            self._used += whole
        room = np.full(size + 256, GARBAGE, np.uint8)
        weakref.finalize(room, self._give_back, whole).atexit = False
        skip = -room.ctypes.data % 256
        return room[skip : skip + size]

    def _give_back(self, size: int) -> None:
        with self._lock:
            self._used -= size

    def used_bytes(self) -> int:
        return self._used

    def total_bytes(self) -> int:
        return self._used

    def free_bytes(self) -> int:
        return 0

    def free_all_blocks(self) -> None:
        pass


POOL = Pool()


def get_default_memory_pool() -> Pool:
    return POOL


# -- arrays --------------------------------------------------------------------------------------


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that only kernels, `get`, `set` and its own arithmetic can look into."""

    def __init__(self, host: np.ndarray) -> None:
        self._host = host

    shape = property(lambda self: self._host.shape)
    dtype = property(lambda self: self._host.dtype)
    size = property(lambda self: self._host.size)
    ndim = property(lambda self: self._host.ndim)
    nbytes = property(lambda self: self._host.nbytes)
    itemsize = property(lambda self: self._host.itemsize)
    flags = property(lambda self: self._host.flags)
    data = property(lambda self: SimpleNamespace(ptr=self._host.ctypes.data))
    T = property(lambda self: ndarray(self._host.T))

    def __len__(self) -> int:
        return len(self._host)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed; use .get()")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None) -> ndarray:
        if method != "__call__":
            return NotImplemented
        if out is None:
            return made(ufunc(*map(host_of, inputs)))
        ufunc(*map(host_of, inputs), out=tuple(map(host_of, out)))
        return out[0]

    def __bool__(self) -> bool:
        return bool(self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __getitem__(self, key: Any) -> ndarray:
        part = self._host[device_key(key)]
        if isinstance(part, np.ndarray):
            return ndarray(part) if np.may_share_memory(part, self._host) else made(part)
        key = key if isinstance(key, tuple) else (key,)
        return ndarray(self._host[(*key, ...)])  # CuPy gives an array of no dimensions

    def __setitem__(self, key: Any, value: Any) -> None:
        self._host[device_key(key)] = host_of(value)

    def get(self, *, out: np.ndarray | None = None, stream: Any = None) -> np.ndarray:
        if out is None:
            return self._host.copy()
        if out.dtype != self.dtype or out.shape != self.shape or not out.flags.c_contiguous:
            raise TypeError("out has another shape or type, or is not contiguous")
        out[...] = self._host
        return out

    def set(self, host: np.ndarray, *, stream: Any = None) -> None:
        if host.dtype != self.dtype or host.shape != self.shape:
            raise TypeError("another shape or type")
        self._host[...] = host

    def fill(self, value: Any) -> None:
        self._host.fill(value)

    def reshape(self, *shape: Any) -> ndarray:
        return ndarray(self._host.reshape(*shape))

    def ravel(self) -> ndarray:
        return self.reshape(-1)

    def view(self, dtype: Any) -> ndarray:
        return ndarray(self._host.view(dtype))

    def copy(self) -> ndarray:
        return made(self._host)

    def astype(self, dtype: Any, copy: bool = True) -> ndarray:
        return made(self._host.astype(dtype)) if copy or self.dtype != dtype else self

    def sum(self, axis: Any = None, *, keepdims: bool = False) -> ndarray:
        return made(self._host.sum(axis=axis, keepdims=keepdims))

    def mean(self, axis: Any = None, dtype: Any = None) -> ndarray:
        return made(self._host.mean(axis=axis, dtype=dtype))

    def max(self, axis: Any = None) -> ndarray:
        return made(self._host.max(axis=axis))

    def min(self, axis: Any = None) -> ndarray:
        return made(self._host.min(axis=axis))

    def all(self) -> ndarray:
        return made(self._host.all())

    def any(self) -> ndarray:
        return made(self._host.any())


def host_of(value: Any) -> Any:
    """What numpy calculates with; arrays of its own are refused, numbers are not."""
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>: bring it to the device first")
    return value._host if isinstance(value, ndarray) else value


def device_key(key: Any) -> Any:
    """What numpy indexes with: slices, numbers, and arrays that are on the device."""
    return tuple(map(host_of, key)) if isinstance(key, tuple) else host_of(key)


def made(host: Any) -> ndarray:
    """A copy on the device, contiguous."""
    host = np.asarray(host)
    there = empty(host.shape, host.dtype)
    there._host[...] = host
    return there


def empty(shape: Any, dtype: Any = np.float64) -> ndarray:
    kind = np.dtype(dtype)
    size = kind.itemsize * int(np.prod(shape, dtype=np.int64))
    return ndarray(POOL.take(size).view(kind).reshape(shape))


def zeros(shape: Any, dtype: Any = np.float64) -> ndarray:
    there = empty(shape, dtype)
    there.fill(0)
    return there


def ones(shape: Any, dtype: Any = np.float64) -> ndarray:
    there = empty(shape, dtype)
    there.fill(1)
    return there


def zeros_like(a: ndarray) -> ndarray:
    return zeros(a.shape, a.dtype)


def ones_like(a: ndarray) -> ndarray:
    return ones(a.shape, a.dtype)


def arange(stop: int) -> ndarray:
    return made(np.arange(stop))


def flatnonzero(a: ndarray) -> ndarray:
    return made(np.flatnonzero(host_of(a)))


def asarray(a: Any, dtype: Any = None) -> ndarray:
    if isinstance(a, ndarray):
        return a if dtype is None or a.dtype == dtype else a.astype(dtype)
    return made(np.asarray(a, dtype))


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    there = asarray(a, dtype)
    return there if there.flags.c_contiguous else there.copy()


def asnumpy(a: Any) -> np.ndarray:
    return a.get() if isinstance(a, ndarray) else np.asarray(a)


# they work on arrays of the device by `ndarray.__array_ufunc__`
sqrt, exp, log, abs, isfinite = np.sqrt, np.exp, np.log, np.abs, np.isfinite
maximum, minimum, multiply = np.maximum, np.minimum, np.multiply


def where(condition: ndarray, a: Any, b: Any) -> ndarray:
    return made(np.where(*map(host_of, (condition, a, b))))


# -- kernels -------------------------------------------------------------------------------------


class RawModule:
    """CUDA C++ compiled for the host."""

    def __init__(self, *, code: str, options: tuple[str, ...] = (), **others: Any) -> None:
        unknown = set(others) - {"backend", "jitify"}
        if unknown:
            raise TypeError(f"not emulated: {unknown}")
        unbound = re.sub(r"__launch_bounds__\s*\([^)]*\)", "", code)
        self.names = re.findall(r'extern\s+"C"\s+__global__\s+void\s+(\w+)\s*\(', unbound)
        self._library = compiled(code, options, self.names)

    def get_function(self, name: str) -> RawKernel:
        if name not in self.names:
            raise ValueError(f"the source has no kernel {name}, only {self.names}")
        return kernel_of(self._library, name)


@cache
def kernel_of(library: Path, name: str) -> RawKernel:
    """All modules of one source, compiled with the same options, have the same kernels."""
    return RawKernel(name, getattr(ctypes.CDLL(str(library)), f"launch_{name}"))


class RawKernel:
    """One kernel, to be called with grid, block and arguments."""

    num_regs = 32
    max_threads_per_block = 1024

    def __init__(self, name: str, launch: Any) -> None:
        self.name = name
        self._launch = launch
        self._most_shared = USUAL_SHARED

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """Shared memory that a launch may ask for, whoever makes it."""
        return self._most_shared

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size: int) -> None:
        if not 0 <= size <= MOST_SHARED:
            raise ValueError(f"CUDA_ERROR_INVALID_VALUE: a block cannot have {size} bytes")
        self._most_shared = size

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0) -> None:
        (blocks, threads) = (one_dimension(size) for size in (grid, block))
        if not 1 <= threads <= 1024 or not 1 <= blocks < 2**31:
            raise ValueError(f"CUDA_ERROR_INVALID_VALUE: grid {grid}, block {block}")
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise ValueError(
                f"CUDA_ERROR_INVALID_VALUE: {shared_mem} bytes of shared memory, where "
                f"{self.max_dynamic_shared_size_bytes} are allowed"
            )
        held, kinds = [], ""
        places = (ctypes.c_void_p * max(len(args), 1))()
        sizes = (ctypes.c_int * max(len(args), 1))()
        for i, arg in enumerate(args):
            if isinstance(arg, ndarray):
                if not arg.flags.c_contiguous:
                    raise ValueError(f"argument {i + 1} of {self.name} is not contiguous")
                held.append(np.uint64(arg.data.ptr).reshape(1))
                kinds += arg.dtype.kind.upper()
            elif isinstance(arg, np.generic):
                held.append(arg.reshape(1))
                kinds += arg.dtype.kind
            elif arg is None:
                held.append(np.zeros(1, np.uint64))
                kinds += "P"
            else:
                raise TypeError(f"argument {i + 1} of {self.name} is a {type(arg)}")
            places[i] = held[i].ctypes.data
            sizes[i] = 0 if arg is None else arg.itemsize
        what = len(held), places, kinds.encode(), sizes
        with AT_WORK:
            wrong = self._launch(blocks, threads, shared_mem, *what)
        if wrong < 0:
            raise TypeError(f"{self.name} does not take {len(held)} arguments")
        if wrong > 0:
            kind = getattr(args[wrong - 1], "dtype", None)
            raise TypeError(f"argument {wrong} of {self.name} has another type, not {kind}")


def one_dimension(size: Any) -> int:
    if isinstance(size, int):
        return size
    if any(other != 1 for other in size[1:]):
        raise ValueError("grids and blocks are emulated in one dimension only")
    return int(size[0])


def compiled(code: str, options: tuple[str, ...], names: list[str]) -> Path:
    """The shared library made of a source, from the cache if it is there."""
    defines = [option for option in options if option.startswith("-D")]
    for option in options:
        if option not in defines and not option.startswith(IGNORED_OPTIONS):
            raise ValueError(f"not emulated: the option {option}")
    if re.search(r"_sync\s*\(|__syncthreads|__syncwarp", code):
        defines.append("-DWARPS")
    launchers = "\n".join(LAUNCHER.replace("NAME", name) for name in names)
    text = f'#include "{HEADER.name}"\n#line 1 "kernels.cu"\n{code}\n{launchers}\n'
    key = hashlib.sha256("\0".join([HEADER.read_text(), text, *FLAGS, *defines]).encode())
    folder = Path(tempfile.gettempdir()) / f"reinforce2vec-emulator-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    library = folder / f"{key.hexdigest()[:32]}.so"
    if library.exists():
        return library
    if COMPILER is None:
        raise RuntimeError("the emulator needs g++")
    with tempfile.TemporaryDirectory(dir=folder) as place:
        source, made = Path(place) / "kernels.cpp", Path(place) / "kernels.so"
        source.write_text(text)
        command = [COMPILER, *FLAGS, *defines, f"-I{HEADER.parent}", str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"compilation failed:\n{done.stderr[:8000]}")
        made.replace(library)
    return library


LAUNCHER = """
extern "C" int launch_NAME(unsigned grid, unsigned block, unsigned shared, int count, void** args,
                           const char* kinds, const int* sizes) {
    return emulator::launch(NAME, grid, block, shared, count, args, kinds, sizes);
}
"""


# -- the device ----------------------------------------------------------------------------------


class Stream:
    """Everything has happened by the time a call returns."""

    null: Stream

    def __init__(self, *, non_blocking: bool = False, null: bool = False) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def use(self) -> Stream:
        return self

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: Any) -> None:
        pass


Stream.null = Stream()


class Device:
    """The one device there is."""

    compute_capability = "90"
    mem_info = property(lambda self: memory_info())
    id = 0

    def __init__(self, number: int = 0) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *exception: Any) -> None:
        pass


def memory_info() -> tuple[int, int]:
    """Bytes that are free, and bytes that there are."""
    return MEMORY - POOL.used_bytes(), MEMORY


class CUDARuntimeError(RuntimeError):
    pass


cuda = SimpleNamespace(
    Stream=Stream,
    Device=Device,
    get_current_stream=lambda: Stream.null,
    is_available=lambda: True,
    runtime=SimpleNamespace(
        getDeviceCount=lambda: 1,
        getDevice=lambda: 0,
        memGetInfo=memory_info,
        getDeviceProperties=lambda number: {
            "name": b"an emulated device",
            "multiProcessorCount": 2,
            "maxThreadsPerMultiProcessor": 64,
            "regsPerMultiprocessor": 65536,
            "sharedMemPerMultiprocessor": 233472,
            "sharedMemPerBlockOptin": MOST_SHARED,
            "l2CacheSize": 50 << 20,
            "totalGlobalMem": MEMORY,
            "major": 9,
            "minor": 0,
        },
        runtimeGetVersion=lambda: 13000,
        driverGetVersion=lambda: 13000,
        CUDARuntimeError=CUDARuntimeError,
    ),
    memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
    nvrtc=SimpleNamespace(getVersion=lambda: (13, 0)),
)
