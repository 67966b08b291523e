"""How kernels are compiled.

Both kinds are kept on disk, so that only the very first use waits for the compiler, and count no
references to arrays (`_nrt`): counters that threads share would make a step ten times as long.
So they may not allocate; what they write to is handed to them.
"""

from __future__ import annotations

from typing import Any

from numba import njit

kernel: Any = njit(cache=True, nogil=True, _nrt=False)  # type: ignore[call-overload]
inlined: Any = njit(cache=True, inline="always", _nrt=False)  # type: ignore[call-overload]
