"""Headers of a folder's images: sizes, and files that were cut."""

import io

import numpy as np
import pytest
from PIL import Image

from tf_frame_vision.reading.headers import scan_headers
from tf_frame_vision.reading.scan import Problem

PIXELS = np.random.RandomState(0).randint(0, 255, [90, 120, 3]).astype(np.uint8)


def encoded(form):
    file = io.BytesIO()
    Image.fromarray(PIXELS).save(file, form)
    return file.getvalue()


def scanned(folder, content):
    (folder / "a").write_bytes(content)
    (result,) = scan_headers(folder, ["a"], max_pixels=10**6)
    return result


@pytest.mark.parametrize("form", ["JPEG", "PNG", "BMP", "GIF", "WEBP"])
def test_the_size_is_that_of_the_stored_pixels(tmp_path, form):
    assert scanned(tmp_path, encoded(form)) == [90, 120, 1]


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
@pytest.mark.parametrize("share", [0.3, 0.95])
def test_a_file_that_was_cut_is_a_problem(tmp_path, form, share):
    content = encoded(form)
    result = scanned(tmp_path, content[: int(share * len(content))])
    assert isinstance(result, Problem)
    assert result.reason.startswith("it cannot be decoded: image file is truncated")


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_what_follows_the_end_of_an_image_does_no_harm(tmp_path, form):
    for more in (10, 10_000):
        assert scanned(tmp_path, encoded(form) + more * b"\0") == [90, 120, 1]
