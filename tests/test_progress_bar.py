import io

import pytest

from tf_frame.progress_bar import ProgressBar
from tf_frame.text_width import cell_width

BAR = {"n": 120, "total": 320, "elapsed": 12.0, "unit": "step", "rate": 9.5}
# Width -> the last figure that fits into it.
FIGURES = {
    100: "37.9 examples/s",
    75: "00:12<",
    60: "00:21 left]",
    46: "120/320",
    24: "train, ",
}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def line(width, **more):
    return ProgressBar.format_meter(
        **BAR, prefix="train, loss 0.4315", postfix="37.9 examples/s", ncols=width, **more
    )


@pytest.mark.parametrize("width", range(20, 120))
def test_every_width_has_the_bar_and_fits(width):
    text = line(width)
    assert cell_width(text) <= width and text.startswith("train, loss 0.4315"[:width])
    if width >= 24:
        assert "█" in text


def test_a_narrow_line_loses_examples_then_elapsed_time_and_the_rest():
    figures = list(FIGURES.values())
    for number, (width, figure) in enumerate(FIGURES.items()):
        text = line(width)
        assert figure in text and not any(wider in text for wider in figures[:number]), text


def test_wide_characters_are_counted_in_cells():
    text = ProgressBar.format_meter(**BAR, prefix="訓練", ncols=60)
    assert cell_width(text) == 60


def test_without_a_terminal_nothing_is_drawn():
    for out, is_drawn in ((Terminal(), True), (io.StringIO(), False)):
        with ProgressBar(total=2, file=out, desc="thing") as bar:
            bar.update(2)
        assert bool(out.getvalue()) == is_drawn
