import pytest

from tf_frame.errors import DataError
from tf_frame_deeplab.inputs.classes import read_classes


def classes(folder, text, ignore_label=255):
    path = folder / "classes.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_classes(path, ignore_label=ignore_label)


def test_a_line_is_a_class(tmp_path):
    lines = classes(tmp_path, "# three\nbackground\n\n  traffic light\nlane 2\n")
    assert lines.names == ["background", "traffic light", "lane 2"]
    assert (lines.colours, lines.red_green_blue) == ({}, [])


def test_a_name_keeps_white_space_of_unicode_and_the_file_has_any_encoding(tmp_path):
    lines = classes(tmp_path, "a\u2028b\r\t\u00a0c\x85 1\u00a02 3\r\n".encode("utf-16"))
    assert lines.names == ["a\u2028b", "\u00a0c\x85 1\u00a02 3"]
    lines = classes(tmp_path, b"\xef\xbb\xbfa 1 2,3\nb,c\t4, 5 ,6\n")
    assert (lines.names, lines.colours) == (["a", "b,c"], {0x010203: 0, 0x040506: 1})


def test_colours_follow_the_names_and_may_be_ignored(tmp_path):
    text = "ignore 255 255 255\nbackground 0 0 0\ntraffic light 250,170,30\n"
    coloured = classes(tmp_path, text)
    assert coloured.names == ["background", "traffic light"]
    assert coloured.colours == {0xFFFFFF: 255, 0: 0, 0xFAAA1E: 1}
    assert coloured.red_green_blue == [(0, 0, 0), (250, 170, 30)]


WRONG = {
    "one class": ("background\n", r"has 1 class\(es\); it needs a line for each class"),
    "a class twice": ("a\nb\na\n", "has the class 'a' 2 times"),
    "another form": ("cafe\u0301\ncaf\u00e9\n", "has the class 'caf.' 2 times"),
    "other bytes": (b"a\nb\xe9\n", "no text in UTF-8, first at byte 3, 0xe9"),
    "no number": ("a 0 0 0\nb\n", "b has no colour, but other classes have"),
    "a large number": ("a 0 0 0\nb 0 0 256\n", "the line 'b 0 0 256' is wrong"),
    "a colour twice": ("a 1 2 3\nb 1 2 3\n", "two classes have the colour of b"),
    "the ignored label": ("\n".join("abc"), "--input.ignore_label 2 is one of the 3 classes"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_one_line(tmp_path, case):
    text, expected = WRONG[case]
    with pytest.raises(DataError, match=expected):
        classes(tmp_path, text, ignore_label=2 if case == "the ignored label" else 255)
    (tmp_path / "classes.txt").unlink()
    with pytest.raises(DataError, match="classes.txt is missing; write it, a line for each class"):
        read_classes(tmp_path / "classes.txt", ignore_label=255)
