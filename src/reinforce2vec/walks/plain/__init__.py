"""The plain engine: the same walks as `cpu` and `cuda`, one at a time. Start reading here.

A walk is a sequence of nodes X(0), X(1), ..., and decision n takes X(n + 1). These files have one
algorithm each:

- `first_order`: DeepWalk's walk, which has no memory;
- `second_order`: node2vec's walk, which remembers one node;
- `open` and `capped`: divergence-reinforced walks with upper confidence bounds, whose scores are
  mild (see Kernel in ../plan.py), so that proposing a node and keeping or refusing it is fast;
- `reinforced`: every other walk that remembers its path.

The other files are what they share: `walker`, which calls them; `memory`, with starts and random
numbers; `neighbors`; and `weighing`, which they fall back to.

All draws are exact: a refused proposal is repeated, and after a number of refusals every neighbour
is weighed. ../scores.py has the equations. The fast kernels make the same draws in the same order,
so walks are the same, bit for bit; numba compiles this code too, and with NUMBA_DISABLE_JIT=1
Python runs it.
"""
