"""numba's compiler with less work, since a first run waits for it (benchmarks/first_run.py).

numba compiles every function as if Python could call it: it optimises each twice and makes machine
code of it, although that of a kernel has all that the kernel calls. Here, `InnerCompiler` leaves a
function that only kernels call as LLVM code, which becomes part of theirs, and `LeanCompiler`
optimises a kernel once. Both leave out what kernels do not have: closures, array expressions,
nested functions, objects. What numba makes of a function is otherwise the same, and so are the
results.
"""

from __future__ import annotations

from typing import Any, ClassVar

from numba.core import typed_passes, types, untyped_passes
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering, NoPythonBackend

if not hasattr(CPUCodegen, "_pass_builder"):
    raise ImportError("numba before 0.62 has other passes of LLVM")

_NEEDLESS = {
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.DumpParforDiagnostics,
}


class _Library(JITCodeLibrary):
    """Code of a kernel, and of all that it calls, which is optimised when it is complete."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _InnerLibrary(_Library):
    """Code of a function that becomes part of kernels; no machine code is made of it alone."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(self, "_reload_init"):  # from numba 0.63 on
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "lean_lowering"
    library: type[_Library] = _Library

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(_Lowering):
    _name = "inner_lowering"
    library = _InnerLibrary

    def run_pass(self, state: Any) -> bool:
        state.flags.no_compile = True
        return super().run_pass(state)


class _Key:
    """Stands for a function where numba has the entry point of its machine code."""


@register_pass(mutates_CFG=False, analysis_only=False)
class _InnerBackend(NoPythonBackend):
    _name = "inner_backend"

    def run_pass(self, state: Any) -> bool:
        super().run_pass(state)
        state.cr = state.cr._replace(entry_point=_Key())
        function, library = state.cr.fndesc, state.cr.library
        state.targetctx.insert_user_function(state.cr.entry_point, function, [library])
        return True


class _Typing:
    """numba's types, which remembers what an operator returns.

    numba tries those of strings, lists and dates first, for every sum of two numbers.
    """

    _known: ClassVar[dict[Any, Any]] = {}

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, arguments: Any, named: Any) -> Any:
        if named or not isinstance(function, types.Function):
            return self._context.resolve_function_type(function, arguments, named)
        key = function, tuple(arguments)
        if key not in self._known:
            self._known[key] = self._context.resolve_function_type(function, arguments, named)
        return self._known[key]


class LeanCompiler(CompilerBase):
    """For kernels, which Python calls."""

    lowering: Any = _Lowering
    backend: Any = NoPythonBackend

    def __init__(self, typing: Any, *others: Any) -> None:
        super().__init__(_Typing(typing), *others)

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes over a function."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        own = {NativeLowering: self.lowering, NoPythonBackend: self.backend}
        lean = PassManager("lean")
        for step, purpose in usual.passes:
            if step not in _NEEDLESS:
                lean.add_pass(own.get(step, step), purpose)
        lean.finalize()
        return [lean]


class InnerCompiler(LeanCompiler):
    """For functions that only kernels call."""

    lowering = _InnerLowering
    backend = _InnerBackend
