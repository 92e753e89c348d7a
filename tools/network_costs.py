"""Writes docs/figures/networks.json: parameters, multiply-adds and feature strides of networks.

    python tools/network_costs.py

Each network is built once for an image of its own size, with 1,000 classes; nothing is trained.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import TfFrameError
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import NETWORK
from tf_frame.plugin.load import load_plugin_info
from tf_frame.plugin.network_contracts import NetworkContext
from tf_frame.profiling.model_cost import model_layers

_FILE = pathlib.Path(__file__).parents[1] / "docs" / "figures" / "networks.json"
_PACKAGE = "tf-frame-vision"
_CLASSES = 1000
_CONTEXT = NetworkContext(num_classes=_CLASSES, is_training=False)


def main() -> None:
    """Writes the file."""
    own = [f for f in find_plugins() if f.kind == NETWORK and f.distribution == _PACKAGE]
    found = sorted(own, key=lambda info: info.name)
    costs = {f.name: network_cost(load_plugin_info(f).cls) for f in found}
    _FILE.write_text(json.dumps({"networks": costs}, indent=2) + "\n", encoding="utf-8")
    print(f"wrote {_FILE}: {len(costs)} networks")


def network_cost(cls: Any) -> dict[str, Any]:
    """Returns image size, parameters, multiply-adds and the strides of the feature maps."""
    size, channels = cls.default_image_size, cls.channels or 3
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [1, size, size, channels])
        cls(params=cls.Params())(images, _CONTEXT)
        whole = model_layers(graph, variables=tf.trainable_variables(), batch_size=1)[0]
    return {
        "image_size": size,
        "parameters": whole.parameters,
        "multiply_adds": whole.multiply_adds,
        "strides": _strides(cls, size, channels),
    }


def _strides(cls: Any, size: int, channels: int) -> list[int]:
    """Returns the strides of the feature maps; empty for a network that is no backbone."""
    with tf.Graph().as_default():
        images = tf.placeholder(tf.float32, [1, size, size, channels])
        try:
            maps, _ = cls(params=cls.Params()).features(images, _CONTEXT)
        except TfFrameError:
            return []
    return sorted(maps)


if __name__ == "__main__":
    main()
