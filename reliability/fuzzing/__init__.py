"""The parts of the fuzzer `reliability/fuzz.py`.

`cases` are inputs, and how they are kept in files; `targets` are the readers, with valid files that
the library writes; `mutators` change files; `references` are slow readers to compare with;
`oracles` judge what a reader did; `special` are inputs that no mutation makes; `runs` executes
cases in processes of their own, under limits.
"""

from __future__ import annotations

import os

# one thread for each of many processes; read when numpy and pyarrow are imported
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_IO_THREADS"):
    os.environ.setdefault(_name, "1")
