"""Makes the pictures of README.md and of the site's first page from the samples in the plugins.

    python tools/gallery.py [--runs FOLDER] [--only deeplab,detection]

Each plugin trains with its defaults and predicts its evaluation examples: some minutes in all.
Runs that are in the folder already are used as they are.
"""

from __future__ import annotations

import argparse
import gzip
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

_ROOT = pathlib.Path(__file__).parents[1]
_OUT = _ROOT / "docs" / "_static" / "gallery"
_SAMPLE = _ROOT / "plugins/classification/src/tf_frame_classification/data/fashion_mnist"
_CLOTHES = _SAMPLE / "t10k-images-idx3-ubyte.gz"
_PLUGINS = ("deeplab", "detection", "recognition", "classification")
_HEIGHT, _QUALITY, _SHOWN = 240, 80, 4


def main() -> None:
    """Writes a picture for each plugin."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=pathlib.Path, help="folder of the runs; default: a new one")
    parser.add_argument("--only", default=",".join(_PLUGINS), help="plugins, with commas")
    argv = parser.parse_args()
    _OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for plugin in argv.only.split(","):
            pictures = _predicted(plugin, (argv.runs or pathlib.Path(folder)) / plugin)
            _write(_OUT / f"{plugin}.jpg", pictures)


def _predicted(plugin: str, run: pathlib.Path) -> list[Image.Image]:
    """Returns pictures of predictions; trains first if there is no run."""
    if not (run / "result.json").exists():
        _call("run", "--plugin", plugin, "--model_dir", str(run))
    out = run.with_name(f"{run.name}-predictions")
    shutil.rmtree(out, ignore_errors=True)
    words = ["predict", str(run), "--output", str(out)]
    if plugin == "classification":  # Without files it writes rows, and no pictures.
        words += ["--input", str(_clothes(run.with_name("clothes")))]
    _call(*words)
    paths = sorted(out.rglob("*.png"))
    overlays = [path for path in paths if path.parent.name == "overlays"] or paths
    return [Image.open(path).convert("RGB") for path in overlays[:_SHOWN]]


def _clothes(folder: pathlib.Path) -> pathlib.Path:
    """Writes some of the evaluation examples as files, as a user would have them."""
    folder.mkdir(exist_ok=True)
    # The idx format: 16 bytes before the pixels.
    data = gzip.decompress(_CLOTHES.read_bytes())
    images = np.frombuffer(data, np.uint8, offset=16).reshape(-1, 28, 28)
    for number, pixels in enumerate(images[:_SHOWN]):
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return folder


def _write(path: pathlib.Path, pictures: list[Image.Image]) -> None:
    """Writes pictures in two rows, each half as high as the whole."""
    half = _HEIGHT // 2
    fitted = [picture.resize((half, half), Image.Resampling.LANCZOS) for picture in pictures]
    sheet = Image.new("RGB", (2 * half, 2 * half), "white")
    for number, picture in enumerate(fitted):
        sheet.paste(picture, (number % 2 * half, number // 2 * half))
    sheet.save(path, quality=_QUALITY)
    print(f"wrote {path}, {path.stat().st_size / 1024:.0f} KiB")


def _call(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "tf_frame", *words], check=True)


if __name__ == "__main__":
    main()
