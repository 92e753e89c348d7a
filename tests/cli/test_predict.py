"""`tf-frame predict` with a small classifier that a package brings."""

import csv
import fcntl
import json
import os
import re
import signal
import struct
import sys
import termios
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
import yaml

import forked
from tf_frame.testing.distributions import write_distribution

# The classes of `predict_test_plugins` in `tests/support`.
INPUTS = ("Table", "Named", "Endless", "Forgetful", "Nameless", "Empty", "Blind")
MODELS = ("Largest", "Drawn", "Described", "Full", "Forbidden", "Stopped")
MODELS = (*MODELS, "Unwilling", "Unclosing")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The folder with the plugins; the tests run in a fresh folder."""
    site = tmp_path / "site"
    kinds = {"tf_frame.inputs": INPUTS, "tf_frame.models": MODELS}
    entry_points = {
        f"{kind}: {name.lower()}": f"predict_test_plugins:{name}"
        for kind, names in kinds.items()
        for name in names
    }
    write_distribution(site, "predict-test", entry_points)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(tmp_path)
    return site


@pytest.fixture
def trained(site, tmp_path, save_checkpoints):
    """Makes a folder as a run leaves it: its configuration, and checkpoints of steps 3 and 7."""

    def make(model="largest", source="table", **options):
        folder = tmp_path / "trained"
        folder.mkdir()
        content = {"plugin": model, "input": source, "eval_batch_size": 2, **options}
        (folder / "config.yaml").write_text(yaml.safe_dump(content))
        save_checkpoints(folder, {3: {"scale": -1.0}, 7: {"scale": 1.0}})
        return folder

    return make


@pytest.fixture
def files(tmp_path):
    """Files of one row each, a to e; the class is 0 for a, 1 for b, 2 for c, 0 for d ..."""
    folder = tmp_path / "rows"
    folder.mkdir()
    for number, name in enumerate("abcde"):
        row = np.zeros(3)
        row[number % 3] = number + 1
        (folder / f"{name}.txt").write_text(",".join(map(str, row)))
    return folder


def read_rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_folder_becomes_rows_named_as_their_files(trained, files, run):
    folder = trained()
    code, out, err = run(folder, "--input", files, "--output", "out")
    assert (code, err) == (0, "")
    rows = read_rows(files.parent / "out" / "predictions.jsonl")
    assert [row["name"] for row in rows] == [str(files / f"{name}.txt") for name in "abcde"]
    assert [row["class"] for row in rows] == [0, 1, 2, 0, 1]
    softmax = np.exp([1, 0, 0]) / np.exp([1, 0, 0]).sum()
    np.testing.assert_allclose(rows[0]["probabilities"], softmax, rtol=1e-6)
    first, last = out.splitlines()
    assert first == f"predicting with {folder}/model.ckpt-7"
    assert re.fullmatch(r"5 predictions in [\d.]+ s; written to out", last)


def test_the_evaluation_split_is_predicted_without_an_input(trained, run, tmp_path):
    assert run(trained(), "--output", "out", "--format", "csv")[0] == 0
    with open(tmp_path / "out" / "predictions.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [f"{number:06d}" for number in range(5)]
    assert {row["class"] for row in rows} == {"2"}
    assert list(rows[0]) == ["name", "class", *(f"probabilities_{index}" for index in range(3))]


def test_a_checkpoint_may_be_named(trained, files, run, tmp_path):
    folder = trained()
    checkpoint = folder / "model.ckpt-3"
    words = (folder, "--input", files / "a.txt", "--checkpoint", checkpoint, "--output", "out")
    code, out, _ = run(*words)
    assert (code, out.splitlines()[0]) == (0, f"predicting with {checkpoint}")
    (row,) = read_rows(tmp_path / "out" / "predictions.jsonl")
    assert row["class"] == 1  # the negated row's first largest
    assert out.splitlines()[-1].startswith("1 prediction in ")


def test_a_model_may_write_files_of_its_own(trained, files, run, tmp_path):
    assert run(trained("drawn"), "--input", files, "--output", "out")[0] == 0
    written = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert sorted(written) == sorted([*(f"{name}.out" for name in "abcde"), "closed"])
    assert written["b.out"] == "['class'] 1 [0.0, 2.0, 0.0]"


def test_what_a_model_says_of_the_first_files_is_printed(trained, files, run, tmp_path):
    for number in range(17):
        (files / f"x{number:02d}.txt").write_text("0,0,1")
    code, out, _ = run(trained("described"), "--input", files)
    assert code == 0
    lines = out.splitlines()[1:]
    assert lines[:6] == [
        *(str(files / "a.txt"), "  class 0 of 1", "  written to a.out"),
        *(str(files / "b.txt"), "  class 1 of 2", "  written to b.out"),
    ]
    assert lines[57:61:3] == [str(files / "x14.txt"), "2 more are not shown here"]
    # Of few predictions the time is that of the start.
    end = r"22 predictions in [\d.]+ s, [\d.]+ a second; written to predictions"
    assert re.fullmatch(end, lines[61])
    assert (tmp_path / "predictions" / "x16.out").exists()
    words = ("--input", files, "--format", "csv")
    out = run(tmp_path / "trained", *words)[1]
    assert "class" not in out
    note = "note: predictions holds earlier files; those of the same names are replaced"
    assert out.count(note) == 1 and lines[0] == str(files / "a.txt")
    assert (tmp_path / "predictions" / "x16.out").exists()


def test_the_evaluation_split_is_not_described(trained, run):
    code, out, _ = run(trained("described"))
    assert code == 0 and len(out.splitlines()) == 2


def test_files_of_the_same_name_are_told_apart(trained, files, run, tmp_path):
    other_path = tmp_path / "others"
    other_path.mkdir()
    (other_path / "a.txt").write_text("0,0,9")
    words = ("--input", files / "a.txt", other_path, "--output", "out")
    assert run(trained("drawn"), *words)[0] == 0
    assert (tmp_path / "out" / "rows_a.out").read_text() == "['class'] 0 [1.0, 0.0, 0.0]"
    assert (tmp_path / "out" / "others_a.out").read_text() == "['class'] 2 [0.0, 0.0, 9.0]"


def test_several_examples_of_one_file(trained, files, run, tmp_path):
    words = ("--input", files / "a.txt", files / "b.txt", "--output", "out")
    code, out, _ = run(trained("drawn", "named"), *words)
    assert code == 0
    written = sorted(path.name for path in (tmp_path / "out").glob("*.out"))
    assert written == ["a-2.out", "a.out", "b-2.out", "b.out"]
    assert "note" not in out


@pytest.mark.parametrize(
    "batch_size",
    [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(8, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("broken", ["a", "d"])
def test_a_file_that_cannot_be_read_is_named_and_the_others_stay(
    trained, files, run, tmp_path, batch_size, broken
):
    (files / f"{broken}.txt").write_text("1,zwei,3")
    words = ("--input", files, "--output", "out", "--eval_batch_size", batch_size)
    code, _, err = run(trained("drawn"), *words)
    assert code == 2
    reason = "StringToNumberOp could not correctly convert string: zwei"
    assert err == f"tf-frame: {files}/{broken}.txt cannot be read: {reason}\n"
    written = sorted(path.stem for path in (tmp_path / "out").glob("*.out"))
    assert written == list("abcde"[: "abcde".index(broken)])


def test_a_file_that_has_gone_is_named(trained, files, run, monkeypatch):
    """The file exists when the command starts, and is gone when its turn comes."""
    gone = files / "d.txt"
    exists = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: path == str(gone) or exists(path))
    gone.unlink()
    words = ("--input", files / "a.txt", gone, "--output", "out")
    code, _, err = run(trained(), *words)
    assert code == 2
    assert err.startswith(f"tf-frame: {gone} cannot be read: ")
    assert "No such file or directory" in err


def test_ctrl_c_keeps_what_is_written(trained, files, run, tmp_path):
    words = ("--input", files, "--output", "out")
    before = signal.getsignal(signal.SIGINT)  # A shell's background process ignores it.
    code, _, err = run(trained("stopped"), *words)
    assert code == 130
    assert err.splitlines()[-1] == ("tf-frame: SIGINT: stopped after 2 predictions, written to out")
    assert sorted(path.stem for path in (tmp_path / "out").glob("*.out")) == ["a", "b"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_checkpoint_of_another_model_is_one_clear_line(trained, run, tmp_path, save_checkpoints):
    other = save_checkpoints(tmp_path / "other", {0: {"scale": [1.0, 2.0]}})
    code, _, err = run(trained(), "--output", "out", "--checkpoint", other)
    assert code == 1
    assert "scale" in err and "Traceback" not in err


def test_the_plugin_of_the_documentation_works(trained, site, files, run, tmp_path):
    path = Path(__file__).parents[2] / "docs" / "prediction" / "plugin.md"
    text = path.read_text(encoding="utf-8")
    (code,) = [block for block in text.split("```python\n") if block.startswith("class Photos")]
    (site / "documented_plugin.py").write_text(DOCUMENTED + code.partition("```")[0] + BUILT)
    entry_points = {
        "tf_frame.models: built": "documented_plugin:Built",
        "tf_frame.inputs: photos": "documented_plugin:Pictures",
    }
    write_distribution(site, "documented", entry_points)
    with tf.Graph().as_default(), tf.Session() as session:
        picture = session.run(tf.io.encode_jpeg(tf.fill([20, 30, 3], tf.constant(200, tf.uint8))))
    (files / "grey.jpg").write_bytes(picture)
    words = ("--input", files, "--output", "out")
    assert run(trained("built", "photos"), *words)[::2] == (0, "")
    assert (tmp_path / "out" / "grey.txt").read_text() == "grey 200\n"


DOCUMENTED = "from tf_frame import Input, Model, ModelOutput\n\n\n"
BUILT = """

class Pictures(Photos):
    def dataset(self, mode, context):
        raise AssertionError("called")


class Built(Sorter):
    def build(self, features, labels, mode):
        import tensorflow.compat.v1 as tf

        tf.get_variable("scale", initializer=1.0)
        mean = tf.reduce_mean(features["image"], axis=[1, 2, 3])
        return ModelOutput(predictions={"class": tf.cast(mean, tf.int32)})
"""


@pytest.mark.slow
@pytest.mark.process
def test_a_terminal_shows_a_bar(trained, files, site):
    words = [trained(), "--input", files, "--output", "out"]
    reader, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = forked.run(
        [sys.executable, "-m", "tf_frame", "predict", *map(str, words)],
        env={**os.environ, "PYTHONPATH": f"{site}:{Path(forked.__file__).parent}"},
        stdout=terminal,
        timeout=120,
    )
    os.close(terminal)
    printed = b""
    try:
        while part := os.read(reader, 4096):
            printed += part
    except OSError:  # what Linux says of a terminal that nobody writes to
        os.close(reader)
    assert process.returncode == 0
    assert b"predict" in printed and b"5/5" in printed


@pytest.mark.parametrize(
    ("source", "words", "names"),
    [
        ("named", ["--eval_batch_size", 1], ["row 0", "row 3", "row 6", "row 9", "row 12"]),
        ("endless", ["--eval_steps", 3], [f"{number:06d}" for number in range(6)]),
    ],
)
def test_the_evaluation_split_names_its_examples_and_ends(
    trained, run, tmp_path, source, words, names
):
    assert run(trained(source=source), "--output", "out", *words)[0] == 0
    rows = read_rows(tmp_path / "out" / "predictions.jsonl")
    assert [row["name"] for row in rows] == names


def test_files_and_folders_in_one_or_several_inputs_with_a_format(trained, files, run, tmp_path):
    paths = [files / "c.txt", files / "a.txt", "--input", files, "--output", "out"]
    words = ("--input", *paths, "--format", "jsonl")
    code, out, _ = run(trained("drawn", "forgetful"), *words)
    # The format wins over the files that the model would write.
    (path,) = (tmp_path / "out").iterdir()
    rows = read_rows(path)
    assert (code, [row["name"][-5:-4] for row in rows]) == (0, list("cabd"))
    assert sorted(rows[0]) == ["class", "name", "probabilities"]
    assert f"note: 1 of 5 files gave no example, such as {files}/e.txt" in out


@pytest.mark.parametrize(
    ("model", "reason", "written"),
    [
        ("full", "No space left on device", ["a", "b"]),
        ("forbidden", "out/missing/a: No such file or directory", []),
        ("unwilling", "out/labels: Not a directory", []),
        ("unclosing", "out/labels: Not a directory", ["a", "b", "c", "d", "e"]),
    ],
)
def test_a_failure_to_write_keeps_earlier_files(
    trained, files, run, tmp_path, model, reason, written
):
    code, _, err = run(trained(model), "--input", files, "--output", "out")
    failure, remedy = err.splitlines()
    assert code == 1
    assert failure == f"tf-frame: the predictions could not be written to --output out: {reason}"
    kept = f"the first {len(written)} are there" if written else "none is there"
    assert remedy.startswith(f"{kept}; free space, check that the folder can be written")
    assert sorted(path.stem for path in (tmp_path / "out").glob("*.out")) == written


@pytest.mark.parametrize(
    ("source", "words", "message"),
    [
        ("table", "--output=", "--output"),
        ("table", "--output out --format xml", "--format: 'xml' is not known; allowed: csv, jsonl"),
        ("table", "--output out --input rows/x.txt", "rows/x.txt: there is no such file"),
        ("table", "--output out --input trained", "--input trained: nothing in this folder and"),
        ("table", "--output rows --input rows", "--output rows is the folder of an --input"),
        ("table", "--output rows/a.txt", "--output rows/a.txt cannot be written: it is a file"),
        ("table", "--output out --checkpoint no/model", "there is no checkpoint no/model"),
        ("table", "--output out --outpt x", "unknown option --outpt;"),
        ("table", "--output out --eval_batch_size 0", "--eval_batch_size"),
        ("table", "--output out rows", "unexpected word 'rows'"),
        ("endless", "--output out", "the data to predict on never ends; say how much: --eval_step"),
        ("blind", "--output out --input rows", "the input blind of predict-test cannot read files"),
        (
            "nameless",
            "--output out --input rows",
            "a dict with 'name', the path of each example; it yields TensorSpec(shape=(None, 3)",
        ),
        (
            "empty",
            "--output out",
            "the evaluation split of the input 'empty' of predict-test 1.0 is empty",
        ),
    ],
)
def test_wrong_words_and_inputs_are_one_line(trained, files, run, source, words, message):
    code, _, err = run(trained(source=source), *words.split())
    assert code == 2
    assert err.startswith("tf-frame: ") and message in err
    assert len(err.splitlines()) == 1
    if source == "endless":
        assert not list((files.parent / "out").iterdir())


def test_a_folder_without_a_checkpoint_is_refused(trained, run):
    folder = trained()
    for path in [*folder.glob("model.ckpt*"), folder / "checkpoint"]:
        path.unlink()
    code, _, err = run(folder, "--output", "out")
    assert (code, "there is no checkpoint in the folder" in err) == (2, True)
