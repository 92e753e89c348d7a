"""The converters as `tf-frame convert` offers them."""

import subprocess
import sys

import pytest

NAMES = ["image_folder", "mnist", "fashion_mnist", "cifar10"]
OPTIONS = ["shards", "workers", "eval_fraction", "[no]skip_corrupt", "seed", "split"]
ALL_QUICK = """
import sys
from tf_frame.cli.main import main
print([main(["convert", *words.split()]) for words in sys.argv[1:]], "tensorflow" in sys.modules)
"""


def test_help_and_mistakes_do_not_wait_for_tensorflow(tmp_path):
    words = ["--help", "mnist --help", f"image_folder /no/such {tmp_path}/x", "cifar --help"]
    command = [sys.executable, "-c", ALL_QUICK, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[0, 0, 2, 2] False"


def test_help_names_every_converter(program, capsys):
    assert program("--help") == 0
    told = capsys.readouterr().out
    assert all(f"  {name} " in told for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_converter_names_every_option(program, capsys, name):
    assert program(name, "--help") == 0
    told = capsys.readouterr().out
    assert all(f"--{option}" in told for option in OPTIONS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["imagenet", "a", "b"], "no converter plugin is called 'imagenet'"),
        (["mnist", "a", "b", "--shards", "0"], "--shards: 0 is out of range; allowed: 1 or more"),
        (["mnist", "a", "b", "--shards", "3x"], "--shards: '3x' is not a whole number"),
        (["mnist", "a", "b", "--split", "dev"], "'dev' is not known"),
        (["mnist", "a", "b", "--shard", "2"], "unknown option --shard; did you mean --shards?"),
        (["mnist", "a"], "tf-frame convert mnist takes SOURCE and OUTPUT; given: a"),
        (["mnist", "a", "b", "--eval_fraction", "1"], "allowed: 0.0 to 0.9"),
    ],
)
def test_wrong_words_end_with_2(program, capsys, words, message):
    assert program(*words) == 2
    told = capsys.readouterr().err
    assert message in told
    assert len(told.splitlines()) == 1


def test_more_shards_than_images_are_refused(convert, fashion, capsys, tmp_path):
    assert convert("fashion_mnist", fashion, "--split", "test", "--shards", "61") == 2
    assert "--shards 61 for 60 images" in capsys.readouterr().err
    assert not (tmp_path / "records").exists()


@pytest.mark.parametrize("inner", ["", "records"])
def test_the_output_is_not_within_the_source(program, tmp_path, capsys, inner):
    (tmp_path / "photos").mkdir()
    source = tmp_path / "photos"
    assert program("image_folder", source, source / inner) == 2
    assert "is within SOURCE" in capsys.readouterr().err


def test_a_split_must_be_fit_for_a_file_name(convert, tmp_path, capsys):
    assert convert("image_folder", tmp_path / "photos", "--split", "a/b") == 2
    assert "--split 'a/b' cannot begin the name of a file" in capsys.readouterr().err


def test_an_output_that_is_a_file_is_refused(convert, fashion, tmp_path, capsys):
    (tmp_path / "records").write_text("")
    assert convert("fashion_mnist", fashion, "--split", "test") == 2
    assert f"cannot write to {tmp_path}/records: File exists" in capsys.readouterr().err
