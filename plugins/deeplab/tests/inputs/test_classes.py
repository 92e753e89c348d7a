import ast
import re

import pytest
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame.errors import DataError
from tf_frame.text_file import normal_name
from tf_frame_deeplab.inputs.classes import class_lines, find_classes, read_classes
from tf_frame_vision.convert.settings import write_names
from tf_frame_vision.reading.class_names import read_class_names

HARD_NAMES = strategies.sampled_from(
    ["# x", "ignore", "a 1 2 3", "a 1,2 3", "lane 2", "1 2 3", "a 1 2 3 4", "x#", "road  sign"]
)


def classes(folder, text, ignore_label=255):
    path = folder / "classes.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_classes(path, ignore_label=ignore_label)


def test_a_line_of_many_blanks_takes_no_minutes(tmp_path):
    name = f"a{' ' * 10**6}b"
    assert classes(tmp_path, f"{name}\nc\n").names == [name, "c"]
    assert class_lines([name]) == [name]


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


@pytest.mark.parametrize(
    ("file", "text", "names", "colours"),
    [
        ("labelmap.txt", "# label:color_rgb:parts:actions\na: b:1,2,3::\nBackground:0,0,0:x:y\n",
         ["Background", "a: b"], {0: 0, 0x010203: 1}),
        ("labelmap.txt", "background:::\ncat:::\n", ["background", "cat"], {}),
        ("_classes.csv", "Pixel Value, Class\n0, background\n1, traffic, red\n", 
         ["background", "traffic,red"], {}),
        ("labelmap.txt", "cat:1,2,3::\n__background__:0,0,0::\n",
         ["__background__", "cat"], {0: 0, 0x010203: 1}),
        ("class_names.txt", "_background_\ncat\n", ["_background_", "cat"], {}),
    ],
)  # fmt: skip
def test_files_of_other_programs(tmp_path, file, text, names, colours):
    (tmp_path / file).write_text(text)
    classes = find_classes(tmp_path, "", ignore_label=255)
    assert (classes.names, classes.colours) == (names, colours)
    (tmp_path / "classes.txt").write_text("a\nb\n")
    assert find_classes(tmp_path, "", ignore_label=255).names == ["a", "b"]
    assert find_classes(tmp_path, str(tmp_path / file), ignore_label=255).names == names


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("_classes.csv", "Pixel Value, Class\n0, a\n2, b\n", r"has the values \[0, 2\]; it needs"),
        ("_classes.csv", "Pixel Value, Class\n0\n1, b\n", "it needs 0, 1 ..., and a name"),
        ("_classes.csv", "Pixel Value, Class\nx, a\n", "a value 'x' .*is no whole number"),
        ("labelmap.txt", "a:1,2,300::\nb:1,2,3::\n", "the line 'a 1,2,300' is wrong"),
    ],
)
def test_files_of_other_programs_that_are_wrong(tmp_path, file, text, message):
    (tmp_path / file).write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        find_classes(tmp_path, "", ignore_label=255)
    assert file in str(caught.value) and "\n" not in str(caught.value)


COLOURS = strategies.lists(strategies.integers(0, 255), min_size=3, max_size=3).map(tuple)


@COUNTS
def test_names_and_colours_are_read_as_they_were_written_or_refused(tmp_path, count):
    path = tmp_path / "classes.txt"

    def check(classes, coloured):
        path.unlink(missing_ok=True)
        names, colours = list(classes), list(classes.values()) if coloured else []
        try:
            lines = class_lines(names, colours)
        except DataError as error:
            name = ast.literal_eval(re.search("the class (.*): a name has", str(error))[1])
            assert name in names
            assert (
                name != name.strip(" \t")
                or set(name) & set("\r\n")
                or name in ("", "ignore")
                or name.startswith("#")
                or re.search(r"\d+[ \t,]+\d+[ \t,]+\d+$", name)
            )
            return
        write_names(tmp_path, path.name, lines)
        classes_read = read_classes(path, ignore_label=255)
        assert (classes_read.names, list(classes_read.red_green_blue)) == (names, colours)
        assert classes_read.lines == lines
        if not coloured:
            assert read_class_names(path) == names

    names = strategies.one_of(TEXTS.filter(lambda name: "\0" not in name), HARD_NAMES)
    classes = strategies.dictionaries(names, COLOURS, min_size=2, max_size=5).filter(
        lambda classes: (
            len(set(classes.values())) == len(classes) == len(set(map(normal_name, classes)))
        )
    )
    check_many(check, count, classes=classes, coloured=strategies.booleans())


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
