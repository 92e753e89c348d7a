"""XLA: compiles what a clone computes, forward and backward, into few kernels.

The operations of a clone are marked as they are made (`jit_scope`); gradients
inherit the mark. This needs no environment variable, and is tied to no kind of
device. On CPUs it costs more than it saves: for a small DeepLab on two cores
the first step took 13 s instead of 1, and then 10 steps a second were done
instead of 29.
"""

from __future__ import annotations

import contextlib
from typing import Any

import tensorflow as tf

from tf_frame.config.run_options import RunOptions

# Not compiled: what might draw other random numbers than without XLA, and
# variables, which would tear the rest into more and smaller pieces to keep their
# readings and updates in order.
_LEFT_OUT = (
    "Assign",
    "Multinomial",
    "Random",
    "TruncatedNormal",
    "VarHandle",
    "VarIsInitialized",
    "Variable",
)


def xla_scope(config: RunOptions) -> contextlib.AbstractContextManager[Any]:
    """A context whose operations, and their gradients, are compiled if `--xla` says so.

    Args:
      config: `xla`.
    """
    if not config.xla:
        return contextlib.nullcontext()
    scope: contextlib.AbstractContextManager[Any] = tf.xla.experimental.jit_scope(
        compile_ops=_compiled
    )
    return scope


def _compiled(node_def: Any) -> bool:
    return not any(word in node_def.op for word in _LEFT_OUT)
