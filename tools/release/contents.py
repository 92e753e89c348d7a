"""The files that a wheel of this repository may hold: package, licences, and the data named here.

`package_data` of a `setup.py` takes whatever lies in a folder; `DATA` says what a user needs.
"""

from __future__ import annotations

import fnmatch
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

# Package -> files beside its modules. A pattern without a file is a mistake, too.
DATA = {
    "tf_frame": (
        "html_page.html",
        "curves.js",
        "scaffold/templates/*.txt",  # what `tf-frame plugins new` writes
    ),
    # The samples that the default inputs of the models read.
    "tf_frame_classification": ("data/fashion_mnist/*-ubyte.gz", "data/fashion_mnist/LICENSE.txt"),
    "tf_frame_deeplab": (
        "data/nuclei/image.png",
        "data/nuclei/instances.png",
        "data/nuclei/LICENSE.txt",
    ),
    "tf_frame_detection": (
        "data/nuclei/image.png",
        "data/nuclei/instances.png",
        "data/nuclei/LICENSE.txt",
        "data/trees/[0-3][0-9].jpg",
        "data/trees/boxes.csv",
        "data/trees/LICENSE.txt",
    ),
    "tf_frame_recognition": (
        "data/digits/images-idx3-ubyte.gz",
        "data/digits/labels-idx1-ubyte.gz",
        "data/digits/LICENSE.txt",
        "data/words.txt",
    ),
    "tf_frame_weights": ("data/*.npz", "data/*_classes.txt", "data/LICENSE.txt"),
}
_METADATA = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt", "licenses/*")
_TEST = re.compile(r"(^|/)(tests?/.*|test_\w*|\w*_test|conftest)\.py$")


def problems(wheel: Path) -> list[str]:
    """Returns what is wrong with the files of a wheel, a line each; empty for a good one."""
    package = wheel.name.partition("-")[0]
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    return [f"{wheel.name}: {line}" for line in _problems(package, names)]


def _problems(package: str, names: list[str]) -> Iterator[str]:
    data = ("py.typed", *DATA.get(package, ()))
    inside = [name.removeprefix(f"{package}/") for name in names if name.startswith(f"{package}/")]
    for name in names:
        folder, _, path = name.partition("/")
        if folder.endswith(".dist-info"):
            if not _matches(path, _METADATA):
                yield f"{name} is no metadata of a wheel"
        elif folder != package:
            yield f"{name} is outside of {package}/"
        elif _TEST.search(path):
            yield f"{name} is a test"
        elif not path.endswith(".py") and not _matches(path, data):
            yield f"{name} is not named in DATA of tools/release/contents.py"
    for pattern in data:
        if not fnmatch.filter(inside, pattern):
            yield f"{package}/{pattern} is missing"
    if not any(".dist-info/licenses/" in name for name in names):
        yield "it has no licence"


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)
