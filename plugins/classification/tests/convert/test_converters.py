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


def test_help_names_every_converter_and_all_its_options(program, capsys):
    assert program("--help") == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in NAMES)
    for name in NAMES:
        assert program(name, "--help") == 0
        text = capsys.readouterr().out
        assert all(f"--{option}" in text for option in OPTIONS)


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
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


def test_splits_and_outputs_that_do_not_fit_are_refused(refuse, program, fashion, tmp_path, capsys):
    words = ["fashion_mnist", fashion, "--split"]
    for inner in ("", "records"):
        assert program("image_folder", fashion, fashion / inner) == 2
        assert "is within SOURCE" in capsys.readouterr().err
    assert "--split 'a/b' cannot begin the name of a file" in refuse(
        "image_folder", fashion, "--split", "a/b"
    )
    (tmp_path / "records").write_text("")
    assert f"OUTPUT {tmp_path}/records cannot be written: it is a file" in refuse(*words, "test")
