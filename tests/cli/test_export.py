"""`tf-frame export`; test_main.py has words that are answered without TensorFlow."""

import os
import re
import resource
import signal
import subprocess
import sys
import types

import numpy as np
import pytest
import yaml

import forked
from export_formats import WRITABLE
from slow_cases import slow_but
from tf_frame.cli import export
from tf_frame.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE
from tf_frame.runs.export.formats import FORMATS
from tf_frame.runs.export.verify import Comparison
from tf_frame.testing.distributions import write_toy_distribution
from tf_frame.testing.toy import WEIGHTS

every_format = pytest.mark.parametrize("name", slow_but((0, 2), WRITABLE))


@pytest.fixture
def site(tmp_path):
    """A folder with the plugin `toy` installed."""
    (tmp_path / "site").mkdir()
    write_toy_distribution(tmp_path / "site")
    return tmp_path / "site"


@pytest.fixture
def folder(tmp_path, site, monkeypatch, save_checkpoints):
    """The folder of a run of the toy model, with checkpoints of steps 3 and 5."""
    monkeypatch.syspath_prepend(str(site))
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.yaml").write_text(yaml.safe_dump({"plugin": "toy", "eval_batch_size": 4}))
    values = {n: {"linear/weights": n * WEIGHTS, "linear/biases": [3.0]} for n in (3, 5)}
    save_checkpoints(run, values)
    return run


PATHS = {
    "saved_model": r"export/saved_model/\d+",
    "frozen_graph": r"export/frozen_graph-5/frozen_graph\.pb",
    "tflite": r"export/tflite-5/model\.tflite",
    "onnx": r"export/onnx-5/model\.onnx",
    "checkpoint": r"export/checkpoint-5/model\.ckpt-5",
}


@every_format
def test_it_tells_path_size_signature_and_difference(run, folder, name):
    code, out, _ = run(folder, "--format", name)
    assert code == EXIT_OK
    first, wrote, inputs, fed, outputs, value, last = out.splitlines()
    assert first == f"exporting {folder}/model.ckpt-5 as {name} ..."
    assert re.fullmatch(rf"wrote {folder}/{PATHS[name]}, [\d.]+ (B|KiB)", wrote)
    batch = 1 if name == "tflite" else "?"
    assert (inputs, outputs) == ("inputs", "outputs of serving_default")
    assert fed.split(maxsplit=2) == ["input", "float32", f"[{batch}, 3]"]
    assert value.split(maxsplit=2) == ["value", "float32", f"[{batch}, 1]"]
    match = re.fullmatch(
        r"loaded again, on a batch of the evaluation data: largest difference from the restored "
        rf"session (\S+) in value \(allowed: {FORMATS[name].tolerance:g}\)",
        last,
    )
    assert 0 <= float(match[1]) < 1e-6


def read_value(path):
    """Output of a frozen graph for one example of zeros but for a one at the end."""
    import tensorflow.compat.v1 as tf

    graph_def = tf.GraphDef()
    graph_def.ParseFromString((path / "frozen_graph.pb").read_bytes())
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return session.run("outputs/value:0", {"inputs/input:0": [[0.0, 0.0, 1.0]]}).item()


def test_it_exports_the_newest_checkpoint_or_the_one_that_is_named(run, folder, tmp_path):
    assert run(folder, "--format=frozen_graph")[0] == EXIT_OK
    assert read_value(folder / "export" / "frozen_graph-5") == 5 * 0.5 + 3
    words = ("--checkpoint", folder / "model.ckpt-3", "--output", tmp_path / "out")
    code, out, _ = run(folder, "--format", "frozen_graph", *words)
    assert code == EXIT_OK
    assert out.startswith(f"exporting {folder}/model.ckpt-3 as frozen_graph")
    assert read_value(tmp_path / "out") == 3 * 0.5 + 3


def test_an_export_is_replaced_on_demand_only(run, folder):
    assert run(folder, "--format", "frozen_graph")[0] == EXIT_OK
    code, _, err = run(folder, "--format", "frozen_graph")
    assert code == EXIT_USAGE
    assert "README.json exists; take another --output, or replace it with --overwrite" in err
    assert run(folder, "--format", "frozen_graph", "--overwrite")[0] == EXIT_OK


def test_random_numbers_and_ties_are_told(run, folder):
    code, out, _ = run(folder, "--format", "frozen_graph", "--input.num_examples", 0)
    assert code == EXIT_OK
    assert "loaded again, on random data: largest difference" in out
    exported = types.SimpleNamespace(
        on_real_data=True, tolerance=1e-5, comparison=Comparison(0.0, "", 3)
    )
    assert export._difference(exported).endswith(
        "session 0 (allowed: 1e-05); 3 classes differ, all of them ties"
    )


def test_help_names_formats_and_tolerances(run):
    code, out, _ = run("--help")
    assert code == EXIT_OK
    for name, export_format in FORMATS.items():
        assert f"  {name}" in out
        assert export_format.text in out
    assert "may differ by 1e-05" in out and "tflite by 0.0001 (0.1 with" in out
    for option in ("--format", "--checkpoint", "--output", "--signature", "--[no]overwrite"):
        assert f"  {option}" in out
    assert run() == (EXIT_USAGE, out, "")


def test_a_checkpoint_of_another_model_is_refused_with_the_names(
    run, folder, tmp_path, save_checkpoints
):
    other = save_checkpoints(tmp_path / "other", {0: {"linear/weights": [[1.0]] * 4}})
    code, _, err = run(folder, "--format", "frozen_graph", "--checkpoint", other)
    assert code == EXIT_FAILED
    assert "is a checkpoint of another model: 2 variables differ" in err
    assert "linear/weights [3, 1]: [4, 1] in the checkpoint" in err
    assert "linear/biases [1]: not in the checkpoint" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--format", "pb"],
            "allowed: saved_model, frozen_graph, tflite, tflite_int8, onnx, checkpoint",
        ),
        (["--fromat", "tflite"], "--fromat"),
        (["--format", "tflite", "--input.num_examples", "-1"], "allowed: 0 or more"),
        (["--format", "checkpoint", "--signature", "a"], "leave --signature out"),
        (["--format", "tflite", "--signature", "a"], "no signature 'a'; it has: serving_default"),
    ],
)
def test_wrong_words_are_refused(run, folder, words, message):
    code, _, err = run(folder, *words)
    assert code == EXIT_USAGE
    assert message in err
    assert not (folder / "export").exists()


def test_packages_that_a_format_needs_are_asked_for_first(run, folder, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(export, "input_for_export", lambda *_: pytest.fail("the data is read"))
    code, out, err = run(folder, "--format", "onnx")
    assert (code, out) == (EXIT_USAGE, "")
    assert "--format onnx needs tf2onnx, onnxruntime, which are not installed: pip install" in err


@every_format
def test_a_difference_is_an_error_and_nothing_is_kept(run, folder, name, monkeypatch):
    import dataclasses

    monkeypatch.setitem(FORMATS, name, dataclasses.replace(FORMATS[name], tolerance=-1.0))
    code, out, err = run(folder, "--format", name)
    assert code == EXIT_FAILED
    assert "of the output value differ" in err and "allowed: -1" in err
    assert "wrote" not in out
    assert not (folder / "export").exists()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(300)
def test_a_run_with_momentum_and_averages_is_exported(toy_environment, tmp_path):
    def tf_frame(*words, run=forked.run):
        process = run(
            [sys.executable, "-m", "tf_frame", *words],
            capture_output=True,
            text=True,
            timeout=200,
            cwd=tmp_path,
            env=toy_environment,
        )
        assert process.returncode == 0, process.stdout + process.stderr
        return process

    tf_frame(
        *("run", "--plugin", "toy", "--model_dir", "m", "--max_steps", "4", "--noevaluate"),
        *("--learning_rate", "0.01", "--moving_average_decay", "0.5"),
    )
    done = tf_frame("export", "m", "--format", "frozen_graph", run=subprocess.run)
    assert done.stderr == ""
    assert "loaded again, on a batch of the evaluation data" in done.stdout
    # A run without learning begins, and ends, with the exported weights.
    tf_frame("export", "m", "--format", "checkpoint", "--output", "weights")
    import tensorflow.compat.v1 as tf

    reader = tf.train.load_checkpoint(str(tmp_path / "weights"))
    trained = tf.train.load_checkpoint(str(tmp_path / "m"))
    names = sorted(reader.get_variable_to_shape_map())
    assert names == ["global_step", "linear/biases", "linear/weights"]
    for name in names[1:]:
        average = trained.get_tensor(f"{name}/ExponentialMovingAverage")
        np.testing.assert_array_equal(reader.get_tensor(name), average)
        assert not np.array_equal(average, trained.get_tensor(name))
    tf_frame(
        *("run", "--plugin", "toy", "--model_dir", "n", "--max_steps", "1", "--noevaluate"),
        *("--learning_rate", "0", "--warm_start_from", "weights"),
    )
    warm = tf.train.load_checkpoint(os.path.join(tmp_path, "n"))
    for name in names[1:]:
        np.testing.assert_array_equal(warm.get_tensor(name), reader.get_tensor(name))


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("function", ["resolve_checkpoint", "compare_batches"])
def test_a_signal_ends_an_export_and_leaves_nothing(
    folder, run, monkeypatch, signum, code, function
):
    from tf_frame.runs.export import export as export_module
    from tf_frame.runs.export.formats import frozen_graph

    module = export_module if function == "resolve_checkpoint" else frozen_graph
    original = getattr(module, function)

    def interrupted(*arguments, **more):
        monkeypatch.setattr(module, function, original)  # There is one signal.
        signal.raise_signal(signum)
        return original(*arguments, **more)

    monkeypatch.setattr(module, function, interrupted)
    before = sorted(os.listdir(folder))
    exit_code, out, err = run(folder, "--format", "frozen_graph")
    assert (exit_code, "wrote" in out) == (code, False)
    name = signal.Signals(signum).name
    assert err.splitlines()[-1] == f"tf-frame: {name}: stopped; nothing was exported"
    assert sorted(os.listdir(folder)) == before
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_folder_without_a_checkpoint_is_refused(run, folder):
    words = ("--format", "frozen_graph")
    for path in folder.glob("model.ckpt*.data*"):
        path.write_bytes(b"")
    code, _, err = run(folder, *words)
    assert code == EXIT_FAILED
    assert f"checkpoints in {folder}" in err or f"no checkpoint in {folder} can be read" in err
    for path in [*folder.glob("model.ckpt*"), folder / "checkpoint"]:
        path.unlink()
    code, _, err = run(folder, *words)
    assert code == EXIT_USAGE
    assert re.match(rf"tf-frame: .*no checkpoint.*{folder}", err), err


@every_format
def test_an_output_that_cannot_be_written_is_one_clear_error(run, folder, name):
    code, _, err = run(folder, "--format", name, "--output", "/proc/no/folder")
    assert code == EXIT_FAILED
    assert "tf-frame: the export to /proc/no/folder could not be written: " in err
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))  # As on a full disk.
    try:
        code, out, err = run(folder, "--format", name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (code, "wrote" in out) == (EXIT_FAILED, False)
    assert "could not be written" in err and "File too large" in err
    assert not (folder / "export").exists()
    (folder / "export").write_text("mine")
    code, _, err = run(folder, "--format", name)
    assert code == EXIT_USAGE
    assert f"{folder}/export is a file; take another --output" in err
