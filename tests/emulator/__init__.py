"""A stand-in for CuPy made of NumPy and the host's C++ compiler.

It has what reinforce2vec uses of CuPy and no more. "Device" arrays live in host memory, but are
no NumPy arrays, so that code which mixes the two up fails as it would with CuPy. Kernels are the
package's own CUDA C++ sources, compiled against `cuda_host.h`, and kept on disk by a hash of what
went into them.
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
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

__version__ = "13.0-emulated"

HEADER = Path(__file__).with_name("cuda_host.h")
COMPILER = shutil.which("g++") if sys.platform == "linux" else None
FLAGS = ("-O2", "-std=c++17", "-ffp-contract=off", "-fno-strict-aliasing", "-shared", "-fPIC", "-w")
IGNORED_OPTIONS = ("--std=", "--fmad=", "--use_fast_math", "--gpu-architecture=", "-lineinfo")
MEMORY = 8 << 30  # what the device says it has
GARBAGE = 0xA5  # what memory holds that nobody has written to


# -- arrays --------------------------------------------------------------------------------------


class ndarray:
    """An array that only kernels, `get` and `set` can look into."""

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

    def __len__(self) -> int:
        return len(self._host)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed; use .get()")

    def __getitem__(self, key: Any) -> ndarray:
        part = self._host[key]
        if not isinstance(part, np.ndarray):  # CuPy gives an array of no dimensions
            part = self._host[key : key + 1 or None].reshape(())
        return ndarray(part)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray):
            raise TypeError("a NumPy array cannot be put into a device array; use .set()")
        self._host[key] = value._host if isinstance(value, ndarray) else value

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
        return ndarray(self._host.ravel())

    def view(self, dtype: Any) -> ndarray:
        return ndarray(self._host.view(dtype))

    def copy(self) -> ndarray:
        return ndarray(self._host.copy())

    def astype(self, dtype: Any) -> ndarray:
        return ndarray(self._host.astype(dtype))


def asarray(a: Any, dtype: Any = None) -> ndarray:
    if isinstance(a, ndarray):
        return a if dtype is None or a.dtype == dtype else a.astype(dtype)
    return ndarray(aligned(np.array(a, dtype, order="C")))


def empty(shape: Any, dtype: Any = np.float64) -> ndarray:
    made = zeros(shape, dtype)
    made._host.reshape(-1).view(np.uint8)[:] = GARBAGE
    return made


def zeros(shape: Any, dtype: Any = np.float64) -> ndarray:
    return ndarray(aligned(np.zeros(shape, dtype)))


def asnumpy(a: Any) -> np.ndarray:
    return a.get() if isinstance(a, ndarray) else np.asarray(a)


def aligned(host: np.ndarray) -> np.ndarray:
    """A copy that begins at a multiple of 256 bytes, as device memory does."""
    room = np.empty(host.nbytes + 256, np.uint8)
    skip = -room.ctypes.data % 256
    copy = room[skip : skip + host.nbytes].view(host.dtype).reshape(host.shape)
    copy[...] = host
    return copy


# -- kernels -------------------------------------------------------------------------------------


class RawModule:
    """CUDA C++ compiled for the host."""

    def __init__(self, *, code: str, options: tuple[str, ...] = (), **others: Any) -> None:
        unknown = set(others) - {"backend", "jitify"}
        if unknown:
            raise TypeError(f"not emulated: {unknown}")
        unbound = re.sub(r"__launch_bounds__\s*\([^)]*\)", "", code)
        self.names = re.findall(r'extern\s+"C"\s+__global__\s+void\s+(\w+)\s*\(', unbound)
        self._library = ctypes.CDLL(str(compiled(code, options, self.names)))

    def get_function(self, name: str) -> RawKernel:
        if name not in self.names:
            raise ValueError(f"the source has no kernel {name}, only {self.names}")
        return RawKernel(name, getattr(self._library, f"launch_{name}"))


class RawKernel:
    """One kernel, to be called with grid, block and arguments."""

    num_regs = 32
    max_threads_per_block = 1024
    max_dynamic_shared_size_bytes = 48 << 10

    def __init__(self, name: str, launch: Any) -> None:
        self.name = name
        self._launch = launch

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0) -> None:
        (blocks, threads) = (one_dimension(size) for size in (grid, block))
        if not 1 <= threads <= 1024 or not 1 <= blocks < 2**31:
            raise ValueError(f"CUDA_ERROR_INVALID_VALUE: grid {grid}, block {block}")
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise ValueError("CUDA_ERROR_INVALID_VALUE: too much shared memory")
        held, kinds = [], ""
        for arg in args:
            if isinstance(arg, ndarray):
                held.append(ctypes.c_uint64(arg.data.ptr))
                kinds += "P"
            elif isinstance(arg, np.generic):
                held.append(np.array(arg))
                kinds += arg.dtype.kind
            elif arg is None:
                held.append(ctypes.c_uint64(0))
                kinds += "P"
            else:
                raise TypeError(f"argument {len(held) + 1} of {self.name} is a {type(arg)}")
        places = (ctypes.c_void_p * max(len(held), 1))()
        sizes = (ctypes.c_int * max(len(held), 1))()
        for i, value in enumerate(held):
            if isinstance(value, np.ndarray):
                places[i], sizes[i] = value.ctypes.data, value.nbytes
            else:
                places[i], sizes[i] = ctypes.addressof(value), 8
        wrong = self._launch(blocks, threads, shared_mem, len(held), places, kinds.encode(), sizes)
        if wrong < 0:
            raise TypeError(f"{self.name} does not take {len(held)} arguments")
        if wrong > 0:
            raise TypeError(
                f"argument {wrong} of {self.name} has another type, not {args[wrong - 1]!r}"
            )


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
    mem_info = (MEMORY, MEMORY)
    id = 0

    def __init__(self, number: int = 0) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *exception: Any) -> None:
        pass


class CUDARuntimeError(RuntimeError):
    pass


class OutOfMemoryError(MemoryError):
    pass


def get_default_memory_pool() -> Any:
    return SimpleNamespace(
        free_all_blocks=lambda: None, free_bytes=lambda: 0, used_bytes=lambda: 0,
        total_bytes=lambda: 0,
    )  # fmt: skip


cuda = SimpleNamespace(
    Stream=Stream,
    Device=Device,
    get_current_stream=lambda: Stream.null,
    is_available=lambda: True,
    runtime=SimpleNamespace(
        getDeviceCount=lambda: 1,
        getDevice=lambda: 0,
        memGetInfo=lambda: (MEMORY, MEMORY),
        getDeviceProperties=lambda number: {
            "name": b"an emulated device",
            "multiProcessorCount": 2,
            "maxThreadsPerMultiProcessor": 64,
            "regsPerMultiprocessor": 65536,
            "sharedMemPerMultiprocessor": 233472,
            "sharedMemPerBlockOptin": 232448,
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
)
