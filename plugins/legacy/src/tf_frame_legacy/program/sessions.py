"""Sessions that run images with the channels first on a CPU.

Programs for GPUs say `data_format="NCHW"`, which most CPU kernels refuse. TensorFlow can turn such
operations, if a session asks for it; it does nothing where there is a GPU.
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import rewriter_config_pb2
from tensorflow.python.client.session import BaseSession


def turn_channels_on_cpu() -> None:
    """Makes all sessions of the process ask TensorFlow to turn channels for a CPU."""
    make = BaseSession.__init__

    @functools.wraps(make)
    def init(session: Any, target: str = "", graph: Any = None, config: Any = None) -> None:
        make(session, target, graph, _turning(config))

    BaseSession.__init__ = init


def _turning(config: Any) -> Any:
    """Returns the configuration with the request, unless it has another one."""
    asked = tf.ConfigProto()
    rewrites = asked.graph_options.rewrite_options
    rewrites.cpu_layout_conversion = rewriter_config_pb2.RewriterConfig.NCHW_TO_NHWC
    if isinstance(config, tf.ConfigProto):
        asked.MergeFrom(config)
        # A training of tf-frame omits the pass, as it would have nothing to do.
        if rewrites.layout_optimizer == rewrites.OFF:
            rewrites.layout_optimizer = rewrites.DEFAULT
    return asked if config is None or isinstance(config, tf.ConfigProto) else config
