import os

import pytest
from hypothesis import strategies as st

from properties import COUNTS, TEXTS, check_many
from tf_frame.errors import ConfigError, DataError
from tf_frame.runs.prediction.file_names import OutputNames, check_output, list_files


@pytest.fixture
def folder(tmp_path):
    for name in ["b.png", "a.PNG", "c.jpg", "notes.txt", ".hidden.png", "sub/d.png", "e.png/f.png"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return tmp_path


def names(paths):
    return [os.path.basename(path) for path in paths]


def test_a_folder_stands_for_its_files_in_the_order_of_their_names(folder):
    found = list_files([str(folder)], (".png", ".jpg"))
    expected = ("a.PNG", "b.png", "c.jpg", "e.png/f.png", "sub/d.png")
    assert found == [str(folder / name) for name in expected]


def test_without_suffixes_all_files_count_that_are_not_hidden(folder):
    found = names(list_files([str(folder)], ()))
    assert found == ["a.PNG", "b.png", "c.jpg", "notes.txt", "f.png", "d.png"]


def test_sub_folders_are_read_once_and_without_the_output(folder):
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / ".git").mkdir()
    (folder / ".git" / "x.png").touch()
    found = list_files([str(folder)], (".png",), output=str(folder / "e.png"))
    assert found == [str(folder / name) for name in ("a.PNG", "b.png", "sub/d.png")]


def test_a_file_counts_whatever_it_is_called_and_in_its_place(folder):
    given = [str(folder / "notes.txt"), str(folder / "sub"), str(folder / "c.jpg")]
    assert names(list_files(given, (".png",))) == ["notes.txt", "d.png", "c.jpg"]


def test_a_file_that_is_named_twice_counts_once(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    found = list_files(["b.png", str(folder), "./b.png", "sub", "~/b.png"], (".png",))
    others = [str(folder / name) for name in ("a.PNG", "e.png/f.png", "sub/d.png")]
    assert found == ["b.png", *others]
    assert list_files(["~/b.png"], ()) == [str(folder / "b.png")]


def test_files_of_systems_are_no_inputs_and_links_are_files_of_their_own(tmp_path):
    for name in ("a/1.png", "a/._1.png", "__MACOSX/a/1.png", "a/Thumbs.db", ".ipynb_checkpoints/x"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).touch()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "1.png").symlink_to(tmp_path / "a" / "1.png")
    (tmp_path / "again").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe.png")
    files = list_files([str(tmp_path), str(tmp_path / "again" / "1.png")], ())
    assert [os.path.relpath(file, tmp_path) for file in files] == ["a/1.png", "b/1.png"]


def test_a_link_to_nothing_in_a_folder_is_left_to_whoever_reads_it(folder):
    (folder / "gone.png").symlink_to(folder / "nothing.png")
    assert str(folder / "gone.png") in list_files([str(folder)], ())


def test_a_path_that_does_not_exist_is_an_error(folder):
    with pytest.raises(DataError, match=r"--input .*/x.png: there is no such file or folder"):
        list_files([str(folder / "b.png"), str(folder / "x.png")], ())


@pytest.mark.parametrize(
    ("suffixes", "text"),
    [((".bmp", ".gif"), r"and its sub-folders ends in .bmp, .gif; name"), ((), "is a file")],
)
def test_an_empty_folder_is_an_error(folder, suffixes, text):
    empty = folder / "empty"
    (empty / "below").mkdir(parents=True)
    with pytest.raises(DataError, match=text):
        list_files([str(folder / "b.png"), str(empty)], suffixes)


def test_the_folder_of_an_input_is_no_output(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for output in (".", str(folder)):
        with pytest.raises(ConfigError, match=r"is the folder of an --input"):
            check_output(output, ["b.png"])
    check_output("sub/new", ["b.png"])
    assert (folder / "sub" / "new").is_dir()


def test_an_output_that_is_a_file_is_an_error(folder):
    with pytest.raises(ConfigError, match=r"--output .*b.png cannot be written: it is a file"):
        check_output(str(folder / "b.png"), [])
    with pytest.raises(ConfigError, match=r"cannot be written: a folder of its path is a file"):
        check_output(str(folder / "b.png" / "c"), [])


def test_an_output_that_is_not_ours_to_write_is_an_error(tmp_path, monkeypatch):
    # The superuser, who runs tests in containers, may write anywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ConfigError, match="cannot be written to; choose another folder"):
        check_output(str(tmp_path), [])


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["p/x.png", "p/y.png"], ["x", "y"]),
        (["a/x.png", "b/x.png"], ["a_x", "b_x"]),
        (["/r/a/1/x.png", "/r/b/1/x.png", "/r/y.png"], ["a_1_x", "b_1_x", "y"]),
        (["p/x.png", "p/q/x.png"], ["x", "q_x"]),
        (["p/x.png", "p/x.jpg"], ["x_png", "x_jpg"]),
        (["a/x.png", "a_x.png", "b/x.png"], ["a_x", "a_x-2", "b_x"]),
        (["p/x.y.png", "p/x.png"], ["x.y", "x"]),
        (["p/..png"], ["unnamed"]),
    ],
)
def test_every_file_gets_a_name_of_its_own(files, expected):
    name_of = OutputNames(files)
    assert [name_of(file) for file in files] == expected
    assert len(set(expected)) == len(files)


def test_further_examples_of_a_file_are_numbered():
    name_of = OutputNames(["p/table.csv"])
    assert [name_of("p/table.csv") for _ in range(3)] == ["table", "table-2", "table-3"]


def test_unknown_files_of_the_same_name_get_their_folder():
    name_of = OutputNames()
    files = ["/data/cats/1.jpg", "/data/cats/2.jpg", "/data/dogs/1.jpg", "/dogs/1.jpg"]
    assert [name_of(file) for file in files] == ["1", "2", "dogs_1", "dogs_1-2"]


@pytest.mark.parametrize(
    ("example", "name"),
    [
        ("000001", "000001"),
        ("2007/000032.jpg", "2007_000032.jpg"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("..", "unnamed"),
        ("a\\b\0c", "a_bc"),
        ("", "unnamed"),
        ("x" * 300 + "1", "x" * 199 + "1"),
        ("\xe4" * 150 + "x", "\xe4" * 99 + "x"),
    ],
)
def test_what_an_example_is_called_becomes_the_name_of_a_file(example, name):
    assert OutputNames()(example) == name


PIECES = st.sampled_from(["..", "/", "\\", ".", "a", "a.png", "\0", "\xe4" * 150, "\n"])


@pytest.mark.slow
@COUNTS
def test_names_of_files_are_unique_and_lead_nowhere(count):
    def check(examples, are_known):
        files = [name for name in examples if os.path.basename(name) not in ("", ".", "..")]
        name_of = OutputNames(files if are_known else ())
        names = [name_of(example) for example in examples]
        assert len(set(names)) == len(names)
        for name in names:
            assert os.path.basename(name) == name and name not in ("", ".", "..")
            assert len(os.fsencode(name)) < 230 and "\0" not in name and "\\" not in name

    paths = st.one_of(TEXTS, st.lists(PIECES).map("".join))
    check_many(check, count, examples=st.lists(paths, unique=True), are_known=st.booleans())
