"""The plugins of this package keep their contracts."""

import numpy as np
import pytest
from PIL import Image

from tf_frame.testing.conformance import InputConformance, ModelConformance


@pytest.mark.slow
class TestDigitStrings(InputConformance):
    plugin = "digit_strings"


@pytest.mark.slow
class TestRenderedWords(InputConformance):
    plugin = "rendered_words"


@pytest.mark.slow
class TestRecognition(ModelConformance):
    plugin = "recognition"


@pytest.mark.slow
class TestTextFolder(InputConformance):
    plugin = "text_folder"

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def folder(cls, tmp_path_factory):
        """Two words to train on, and another one to evaluate."""
        folder = tmp_path_factory.mktemp("words")
        for name in ("a", "b", "c"):
            pixels = np.random.RandomState(ord(name)).randint(0, 256, [16, 48, 3])
            Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{name}.png")
        (folder / "labels.txt").write_text("a.png\tHello\nb.png\tworld\nc.png\tagain\n")
        cls.options = {"data_dir": str(folder), "image_size": (8, 24), "max_length": 6}
