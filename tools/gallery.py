"""Makes the pictures of README.md and of docs/gallery.md from the samples in the plugins.

    python tools/gallery.py [--runs FOLDER] [--only deeplab,detection]

Each plugin trains with its defaults, predicts its evaluation examples, and is profiled, whose page
Chromium draws: some minutes in all. Runs that are in the folder already are used as they are.
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

from tf_frame.runs.records.evaluations import read_figures

_ROOT = pathlib.Path(__file__).parents[1]
_OUT = _ROOT / "docs" / "_static" / "gallery"
_SAMPLE = _ROOT / "plugins/classification/src/tf_frame_classification/data/fashion_mnist"
_CLOTHES = _SAMPLE / "t10k-images-idx3-ubyte.gz"
_PLUGINS = ("deeplab", "detection", "recognition", "classification")
_HEIGHT, _QUALITY, _SHOWN = 240, 80, 4
_WIDTH, _CURVE = 600, 160
_PAGE_SIZE, _COLORS = (1000, 1000), 64


def main() -> None:
    """Writes a picture for each plugin."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=pathlib.Path, help="folder of the runs; default: a new one")
    parser.add_argument("--only", default=",".join(_PLUGINS), help="plugins, with commas")
    argv = parser.parse_args()
    _OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for plugin in argv.only.split(","):
            run = (argv.runs or pathlib.Path(folder)) / plugin
            _write(_OUT / f"{plugin}.jpg", _predicted(plugin, run))
            _write_examples(_OUT / f"{plugin}_data.jpg", run)
            (_OUT / f"{plugin}_loss.svg").write_text(loss_curve(run), encoding="utf-8")
            _write_profile(_OUT / f"{plugin}_profile.png", plugin, run)


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


def _write_examples(path: pathlib.Path, run: pathlib.Path) -> None:
    """Writes the first row of the sheet of training examples, with their labels."""
    sheet = Image.open(run / "data" / "train.png").convert("RGB")
    row = sheet.crop((0, 0, sheet.width, sheet.height // 4))
    row.thumbnail((_WIDTH, _WIDTH))
    row.save(path, quality=_QUALITY)


def loss_curve(run: pathlib.Path) -> str:
    """Returns the losses of a run as a picture: of the training, and points of evaluations."""
    losses, evaluations = read_figures(str(run))
    train, held_out = (
        [(row.step, row.metrics["loss"]) for row in rows if "loss" in row.metrics]
        for rows in (losses, evaluations)
    )
    steps, values = zip(*train, *held_out, strict=True)
    last, top = max(steps), max(values)

    def place(step: int, value: float) -> str:
        return f"{_WIDTH * step / last:.1f},{_CURVE * (1 - value / top):.1f}"

    line = " ".join(place(*point) for point in train)
    points = "".join(
        '<circle cx="{}" cy="{}" r="4" fill="#d9772b"/>'.format(*place(*point).split(","))
        for point in held_out
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-6 -6 {_WIDTH + 12} {_CURVE + 30}">'
        f'<polyline points="{line}" fill="none" stroke="#2f6fb3" stroke-width="2"/>{points}'
        f'<text x="0" y="{_CURVE + 20}" font-size="14" fill="#5c6675">loss from {top:.3g} to '
        f"{train[-1][1]:.3g} in {last} steps; orange: evaluations</text></svg>\n"
    )


def _write_profile(path: pathlib.Path, plugin: str, run: pathlib.Path) -> None:
    """Writes the head of the page that `tf-frame profile --html` writes for a plugin."""
    page, drawn = (run.with_name(f"{run.name}-profile.{suffix}") for suffix in ("html", "png"))
    profiled = run.with_name(f"{run.name}-profiled")
    _call("profile", "--plugin", plugin, "--model_dir", str(profiled), "--html", str(page))
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        raise SystemExit("Chromium, which draws the pages of profiles, is not installed")
    size = f"--window-size={_PAGE_SIZE[0]},{_PAGE_SIZE[1]}"
    words = ["--headless", "--no-sandbox", "--hide-scrollbars", size, f"--screenshot={drawn}"]
    subprocess.run([chromium, *words, page.resolve().as_uri()], check=True, capture_output=True)
    Image.open(drawn).convert("RGB").quantize(_COLORS).save(path, optimize=True)


def _call(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "tf_frame", *words], check=True)


if __name__ == "__main__":
    main()
