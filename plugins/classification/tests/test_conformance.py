"""The plugins of this package keep their contracts."""

import numpy as np
import pytest
from PIL import Image

from slow_cases import slow_but
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import CONVERTER
from tf_frame.testing.conformance import InputConformance, ModelConformance, check_plugin

CONVERTERS = [
    info
    for info in find_plugins()
    if info.kind == CONVERTER and info.distribution == "tf-frame-classification"
]


@pytest.mark.slow
class TestClassification(ModelConformance):
    plugin = "classification"


@pytest.mark.slow
class TestFashionMnist(InputConformance):
    plugin = "fashion_mnist"


class TestImageFolder(InputConformance):
    plugin = "image_folder"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def folder(cls, tmp_path_factory):
        """Five images of each of two classes."""
        folder, random = tmp_path_factory.mktemp("images"), np.random.RandomState(0)
        for name in ("cat", "dog"):
            (folder / name).mkdir()
            for number in range(5):
                pixels = random.randint(0, 256, [8, 8, 3]).astype(np.uint8)
                Image.fromarray(pixels).save(folder / name / f"{number}.png")
        cls.options = {"data_dir": str(folder), "image_size": 8}


@pytest.mark.parametrize("info", slow_but(0, CONVERTERS), ids=lambda info: info.name)
def test_converters_pass(info):
    assert {check.state for check in check_plugin(info, {})} == {"ok"}
