"""Contract of weights: published values of a network, which a run or a prediction begins with.

    class MobilenetV1(Weights):
        about = "MobileNetV1 1.0 at 224 pixels, ImageNet"
        network = "mobilenet_v1"
        ...

        def file(self):
            return WeightsFile(package="my_weights", path="data/mobilenet_v1.npz")

This module does not import TensorFlow, nor should the module of a plugin.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame.plugin.contracts import Plugin

# Endings of files with values: a NumPy archive, a frozen graph, files of Keras.
ARRAYS, GRAPH, KERAS = ".npz", ".pb", (".h5", ".keras")
VALUES = (ARRAYS, GRAPH, *KERAS)


@dataclasses.dataclass(frozen=True, kw_only=True)
class WeightsFile:
    """A file with the values of variables: data of a package, or an address in the web.

    The file is a NumPy archive (`.npz`) of variable name -> array, a frozen graph (`.pb`), a file
    of Keras (`.h5`, `.keras`), or an archive (`.tar.gz`, `.zip`) with a checkpoint or a frozen
    graph.

    Attributes:
      package: the package that brings the file; empty: `url` has it.
      path: the path in the package; or, in an archive, that of the frozen graph, or the prefix of
        the checkpoint. Empty: there is only one in the archive.
      url: the address.
      size: the number of bytes of the download; None if nobody has recorded it.
      sha256: the hash of the file; None likewise, and the first download is recorded.
    """

    package: str = ""
    path: str = ""
    url: str = ""
    size: int | None = None
    sha256: str | None = None


class Weights(Plugin):
    """Published values of a network.

    Args:
      params: the values of the options, a `Params`.

    Attributes:
      about: a line: network, size of its images, data that it was trained on.
      network: the network plugin that has the variables.
      depth_multiplier: factor on the network's channels.
      model: the model plugin that predicts with them; empty: they are a backbone alone.
      options: options of a run that the values need, as in a configuration file:
        `{"model": {"name": "mobilenet_v1"}}`, and `preset`. They are defaults of a run that begins
        with the values; what a user gives counts more. A run of another model takes `network` and
        `depth_multiplier` instead.
      prediction_options: further options for predictions without a training, such as
        `{"input": {"preprocessing": "none"}}`.
      num_classes: number of classes; 0: the values have no layer for classes.
      image_size, resizing, values: how images were prepared: height and width in pixels, such as
        `bilinear`, and the range of values, such as `-1 to 1`.
      figures: name -> published figure, such as `{"top-1": "70.9 %"}`.
      figures_from: where they were published.
      licence: name of the licence, and the owner of the values.
      origin: who published the values, and where.
      verified: whether the authors of the plugin have tried the very file. Else every variable of
        the network has to be in the first download, with its shape; the model takes the feature
        `image`.
    """

    about: ClassVar[str] = ""
    network: ClassVar[str] = ""
    depth_multiplier: ClassVar[float] = 1.0
    model: ClassVar[str] = ""
    options: ClassVar[Mapping[str, Any]] = {}
    prediction_options: ClassVar[Mapping[str, Any]] = {}
    num_classes: ClassVar[int] = 0
    image_size: ClassVar[tuple[int, int]] = (224, 224)
    resizing: ClassVar[str] = "bilinear"
    values: ClassVar[str] = "-1 to 1"
    figures: ClassVar[Mapping[str, str]] = {}
    figures_from: ClassVar[str] = ""
    licence: ClassVar[str] = ""
    origin: ClassVar[str] = ""
    verified: ClassVar[bool] = True

    def file(self) -> WeightsFile:
        """Returns the file with the values."""
        raise NotImplementedError(f"{type(self).__name__} does not define file()")

    def class_names(self) -> Sequence[str]:
        """Returns the names of the classes, in the order of the logits; empty: none are known."""
        return ()
