import os

import pytest
from hypothesis import strategies as st

from properties import COUNTS, TEXTS, check_many
from tf_frame.errors import DataError
from tf_frame_vision.reading.inside import inside

OUTSIDE = [
    "/etc/passwd",
    "../secret.jpg",
    "a/../../secret.jpg",
    "a/./.././../secret.jpg",
    "..\\secret.jpg",
    "a\\..\\..\\secret.jpg",
    "C:\\secret.jpg",
    "c:/secret.jpg",
    "\\secret.jpg",
    "\\\\server\\share\\secret.jpg",
    "../data2/secret.jpg",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_path_that_leads_out_is_refused_unless_it_is_allowed(tmp_path, name):
    data = tmp_path / "data"
    data.mkdir()
    with pytest.raises(DataError, match=r"labels.txt, line 3: the path .* leads out of .*/data;"):
        inside(data, name, source="labels.txt, line 3")
    with pytest.raises(DataError, match="leads out"):
        inside(".", name)
    assert ":" in name or not inside(data, name, allow_outside=True).is_relative_to(data)


@pytest.mark.parametrize("name", ["", " ", "a\0b.jpg", ".", "a/..", None, 3])
def test_a_path_of_no_file_is_refused(tmp_path, name):
    with pytest.raises(DataError, match="is no path of a file|is the data folder"):
        inside(tmp_path, name)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("a/1.jpg", "a/1.jpg"),
        ("./a//b/../1.jpg", "a/1.jpg"),
        ("train\\1.jpg", "train/1.jpg"),
        ("C:1.jpg", "C:1.jpg"),
        (" lead.jpg", " lead.jpg"),
        ("..1.jpg", "..1.jpg"),
        ("~/1.jpg", "~/1.jpg"),
        ("gs://bucket/1.jpg", "gs:/bucket/1.jpg"),
        ("literal\\1.jpg", "literal\\1.jpg"),
    ],
)
def test_a_path_inside_is_joined(tmp_path, name, expected):
    (tmp_path / "literal\\1.jpg").touch()
    assert inside(tmp_path, name) == tmp_path / expected


def test_a_file_is_found_in_any_form_of_its_name(tmp_path):
    path = tmp_path / "cafe\u0301" / "\u00fc.jpg"
    path.parent.mkdir()
    path.touch()
    assert inside(tmp_path, "caf\u00e9/\u00fc.jpg") == path
    assert inside(tmp_path, "cafe\u0301/u\u0308.jpg") == path
    assert inside(tmp_path, "caf\u00e9/missing.jpg") == path.with_name("missing.jpg")


def test_a_link_leads_where_its_maker_wants(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "link").symlink_to(tmp_path)
    assert inside(tmp_path / "data", "link/1.jpg") == tmp_path / "data" / "link" / "1.jpg"


def test_a_path_begins_at_a_folder_below_the_data_folder(tmp_path):
    path = inside(tmp_path, "../images/1.jpg", base="train/lists")
    assert path == tmp_path / "train" / "images" / "1.jpg"
    for name in ("../../../1.jpg", "/1.jpg", "C:\\1.jpg"):
        with pytest.raises(DataError, match="leads out"):
            inside(tmp_path, name, base="train/lists")


PIECES = st.sampled_from(
    ["..", ".", "/", "\\", "a", "data", "C:", "~", " ", "\0", "..\\", "e\u0301"]
)


@COUNTS
def test_no_name_leads_out(count):
    def check(name, base):
        try:
            path = inside("/no/data", name, base=base)
        except DataError as error:
            assert "\n" not in str(error)
        else:
            assert str(path) == os.path.normpath(path) and str(path).startswith("/no/data/")

    names = st.one_of(TEXTS, st.lists(PIECES).map("".join))
    check_many(check, count, name=names, base=st.sampled_from([".", "a", "a/b"]))
