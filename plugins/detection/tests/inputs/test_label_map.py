"""Label maps: read as they were written, and as other programs and people write them."""

import pytest
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame.errors import DataError
from tf_frame_detection.inputs.label_map import label_map_lines, parse_items, read_label_map
from tf_frame_vision.convert.settings import write_names


@COUNTS
def test_any_class_is_read_as_it_was_written(tmp_path, count):
    path = tmp_path / "map.pbtxt"

    def check(classes):
        path.unlink(missing_ok=True)
        write_names(tmp_path, path.name, label_map_lines(list(classes), list(classes.values())))
        assert parse_items(path.read_text(), "") == classes
        if len(set(classes.values())) == len(classes) and min(classes) >= 0:
            assert list(read_label_map(path).items()) == sorted(classes.items())

    ids = strategies.one_of(strategies.integers(-3, 3), strategies.integers(-(2**63), 2**63 - 1))
    check_many(check, count, classes=strategies.dictionaries(ids, TEXTS, min_size=1, max_size=6))


def test_many_blanks_take_no_minutes(tmp_path):
    path = tmp_path / "classes.txt"
    name = f"item{' ' * 10**6}x"
    path.write_text("\n" * 10**6 + name)
    assert read_label_map(path) == {1: name}


READ = {
    "single quotes": ('item {\n id: 17\n name: "cat\'s"\n}', {17: "cat's"}),
    "the order of the ids": ("item { name: 'b' id: 2 } item { name: 'a' id: 1 }", {1: "a", 2: "b"}),
    "a zero that is a class": (
        "item { id: 0 name: 'a' } item { id: 1 name: 'b' }",
        {0: "a", 1: "b"},
    ),
    "a zero that is none": ("item { id: 0 name: 'Background' } item { id: 7 name: 'b' }", {7: "b"}),
    "a display name": ("item { id: 1 display_name: 'a' }", {1: "a"}),
    "two names": ("item { id: 1 display_name: 'A' name: 'a' }", {1: "a"}),
    "a zero with another name": (
        "item { id: 0 name: '__background__' } item { id: 1 name: 'b' }",
        {1: "b"},
    ),
    "escapes": (r"item { id: 0x10 name: '\'\"{}\\\n\303\251' }", {16: "'\"{}\\\n\u00e9"}),
    "comments": ("# item { id: 1 name: 'x' }\nitem { id: 2 name: 'a#b' } # y", {2: "a#b"}),
    "other signs": ("item: < id: 1, name: 'a' 'b'; >", {1: "ab"}),
    "all fields": (
        "item { id: 1 name: 'a' keypoints { id: 3 label: 'nose' } ancestor_ids: 1 "
        "descendant_ids: [2, 3] frequency: COMMON instance_count: 7 mine { x: 1.5 y: ['z'] } }",
        {1: "a"},
    ),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("case", READ)
def test_a_label_map_is_read(tmp_path, case, encoding):
    text, expected = READ[case]
    path = tmp_path / "labels.txt"
    path.write_text(text, encoding=encoding)
    assert list(read_label_map(path).items()) == list(expected.items())


def test_a_list_of_names_has_ids_from_one_on(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text("item\n traffic light\r\n{x}")
    assert read_label_map(path) == {1: "item", 2: "traffic light", 3: "{x}"}
    path.write_text("bg\ncat\ndog")
    assert read_label_map(path) == {1: "cat", 2: "dog"}


REFUSED = {
    "no name": ("item { id: 1 }", "the item 'id: 1' has no id or no name"),
    "no id": ("item { name: 'a' }", "the item 'name: \"a\"' has no id or no name"),
    "an id twice": ("item { id: 1 name: 'a' } item { id: 1 name: 'b' }", "has the id 1 twice"),
    "a name twice": ("item { id: 1 name: 'a' } item { id: 2 name: 'a' }", "class 'a' twice"),
    "a field twice": ("item { id: 1 id: 2 name: 'a' }", 'not have multiple "id" fields'),
    "a negative id": ("item { id: -1 name: 'a' }", "has the negative id -1"),
    "no class": ("item { id: 0 name: 'background' }", "names no class but the background"),
    "no item": ("nothing", "has no item"),
    "an end that is missing": ("item {\n id: 1\n name: 'a'\n", "map.pbtxt, line 3: this is no"),
    "typographic quotes": (
        "item {\n id: 1\n name: \u2018cone\u2019\n}\n",
        "line 3: .* write straight quotes around names, 'x' or \"x\"",
    ),
    "a text as id": ("item { id: '1' name: 'a' }", "Couldn't parse integer: '1'"),
    "a huge id": (f"item {{ id: {2**64} name: 'a' }}", "out of range"),
    "bytes that are no text": ("item { id: 1 name: '\\xff' }", "can't decode byte 0xff"),
    "depth": ("item {" + " a {" * 100_000, "recursion"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_label_map_is_one_line(tmp_path, case):
    text, message = REFUSED[case]
    path = tmp_path / "map.pbtxt"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_label_map(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(("id_", "name"), [(2**63, "a"), (1, "\udcff")])
def test_what_a_label_map_cannot_hold_is_refused(id_, name):
    with pytest.raises(DataError, match="a label map cannot hold the class"):
        label_map_lines([id_], [name])
