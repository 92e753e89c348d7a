"""The command line of the conversion."""

import subprocess
import sys

import pytest

LISTS_MODULES = """
import pathlib, runpy, sys
sys.argv = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(sys.argv[0]).parent))
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    print("tensorflow" in sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("words,code", [(["--help"], 0), (["folder", "/no/such", "/tmp/x"], 2)])
def test_help_and_mistakes_do_not_wait_for_tensorflow(program, words, code):
    command = [sys.executable, "-c", LISTS_MODULES, program.__file__, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr.split()[-1]) == (code, "False")


def test_help_names_every_kind_and_every_option(program, capsys):
    with pytest.raises(SystemExit):
        program.main(["--help"])
    told = capsys.readouterr().out
    assert all(kind in told for kind in ("folder", "mnist", "fashion_mnist", "cifar10"))
    with pytest.raises(SystemExit):
        program.main(["folder", "--help"])
    told = capsys.readouterr().out
    options = ("--split", "--shards", "--workers", "--skip_corrupt", "--seed")
    assert all(option in told for option in options)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["imagenet", "a", "b"],
        ["mnist", "a", "b", "--shards", "0"],
        ["mnist", "a", "b", "--split", "dev"],
        ["mnist", "a", "b", "--seed", "1"],
    ],
)
def test_wrong_words_end_with_2(program, words):
    with pytest.raises(SystemExit) as end:
        program.main(words)
    assert end.value.code == 2


def test_what_is_no_number_is_told_as_such(program, capsys):
    with pytest.raises(SystemExit):
        program.main(["mnist", "a", "b", "--shards", "3x"])
    assert "argument --shards: '3x' is not a whole number" in capsys.readouterr().err


def test_more_shards_than_images_are_refused(convert, fashion, capsys, tmp_path):
    assert convert("fashion_mnist", fashion, "--split", "test", "--shards", "61") == 2
    assert "--shards 61 for 60 images" in capsys.readouterr().err
    assert not (tmp_path / "records").exists()


@pytest.mark.parametrize("inner", ["", "records"])
def test_the_output_is_not_within_the_source(program, tmp_path, capsys, inner):
    (tmp_path / "photos").mkdir()
    source = tmp_path / "photos"
    assert program.main(["folder", str(source), str(source / inner)]) == 2
    assert "is within SOURCE" in capsys.readouterr().err


def test_a_split_must_be_fit_for_a_file_name(convert, tmp_path, capsys):
    assert convert("folder", tmp_path / "photos", "--split", "a/b") == 2
    assert "--split 'a/b' cannot begin the name of a file" in capsys.readouterr().err


def test_an_output_that_is_a_file_is_refused(convert, fashion, tmp_path, capsys):
    (tmp_path / "records").write_text("")
    assert convert("fashion_mnist", fashion, "--split", "test") == 2
    assert f"cannot write to {tmp_path}/records: File exists" in capsys.readouterr().err
