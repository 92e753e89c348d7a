"""Fonts of texts in pictures."""

import pytest
from PIL import ImageFont

from tf_frame import picture_font
from tf_frame.picture_font import font_for


def drawn(font, text):
    return bytes(font.getmask(text))


def test_the_font_of_pillow_has_the_letters_of_ascii():
    assert font_for("cat", 12).getname() == ImageFont.load_default(12).getname()


def test_other_letters_are_those_of_a_font_of_the_machine():
    font = font_for("gro\xdf", 12)
    if font.getname() == ImageFont.load_default(12).getname():
        pytest.skip("this machine has no font with this letter")
    assert drawn(font, "\xdf") != drawn(font, "\U0010ffff")


def test_a_machine_without_fonts(monkeypatch):
    monkeypatch.setattr(picture_font, "_FILES", ("no such font.ttf",))
    picture_font._fonts.cache_clear()
    assert font_for("gro\xdf", 13).getname() == ImageFont.load_default(13).getname()
    picture_font._fonts.cache_clear()
