"""What every other sub-package uses.

The table of hyperparameters (`hyperparameters`), the choice of the backend (`backend_choice`) and
of the engine (`engine`); errors, checks of arguments, node ids, arrays; how numba compiles
(`compiled`, `intrinsics`), random numbers; threads, interrupts, progress, CPUs and memory
(`machine`); tables in HTML, logistic regression; what CUDA code shares (`cuda`); Ray (`cluster`).
It may import no other sub-package. Only InputError is part of the public interface.
"""
