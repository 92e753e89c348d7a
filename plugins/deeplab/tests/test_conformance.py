"""The plugins of this package keep their contracts."""

import numpy as np
import pytest
from PIL import Image

from slow_cases import slow_but
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import CONVERTER
from tf_frame.testing.conformance import (
    GradientTransformConformance,
    InputConformance,
    ModelConformance,
    check_plugin,
)

CONVERTERS = [
    info
    for info in find_plugins()
    if info.kind == CONVERTER and info.distribution == "tf-frame-deeplab"
]


@pytest.mark.slow
class TestDeepLab(ModelConformance):
    plugin = "deeplab"


@pytest.mark.slow
class TestNuclei(InputConformance):
    plugin = "nuclei"
    options = {"crop_size": 32}


@pytest.mark.slow
class TestLastLayerMultiplier(GradientTransformConformance):
    plugin = "last_layer_multiplier"


@pytest.mark.slow
class TestSegmentationFolder(InputConformance):
    plugin = "segmentation_folder"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def folder(cls, tmp_path_factory):
        """Pictures of two classes, and their masks."""
        folder, random = tmp_path_factory.mktemp("pictures"), np.random.RandomState(0)
        for part, size, most in (("images", (24, 32, 3), 256), ("masks", (24, 32), 2)):
            (folder / part).mkdir()
            for number in range(8):
                pixels = random.randint(0, most, size).astype(np.uint8)
                Image.fromarray(pixels).save(folder / part / f"{number}.png")
        (folder / "classes.txt").write_text("background\nthing\n")
        cls.options = {"data_dir": str(folder), "crop_size": 16}


@pytest.mark.parametrize("info", slow_but((0, -1), CONVERTERS), ids=lambda info: info.name)
def test_converters_pass(info):
    assert {check.state for check in check_plugin(info, {})} == {"ok"}
