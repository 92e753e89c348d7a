"""`tf-frame evaluate`: arguments in this process, Ctrl-C in a child process."""

import json
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import forked
from tf_frame import InputInfo, Mode
from tf_frame.cli import evaluate

TF_FRAME = (sys.executable, "-m", "tf_frame")
FEATURES = np.random.RandomState(0).randn(64, 3)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder in which the toy model was trained, with checkpoints of steps 10, 20 and 30."""
    from tf_frame.cli.run import main as run
    from tf_frame.testing.distributions import write_toy_distribution

    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("trained") / "run"
    write_toy_distribution(site)
    sys.path.insert(0, str(site))
    words = ["--plugin", "toy", "--model_dir", str(folder), "--max_steps", "30", "--noevaluate"]
    words += ["--save_checkpoint_steps", "10", "--save_checkpoint_secs", "none"]
    assert run(words) == 0
    yield folder
    sys.path.remove(str(site))


@pytest.fixture
def folder(trained, tmp_path):
    """A copy of it."""
    return shutil.copytree(trained, tmp_path / "run")


@pytest.fixture
def rotate():
    """Lets a `checkpoint` file list checkpoints up to a step."""
    import tensorflow.compat.v1 as tf

    def rotate(folder, *steps):
        names = [f"model.ckpt-{step}" for step in steps]
        tf.train.update_checkpoint_state(str(folder), names[-1], names)

    return rotate


def expected(folder, step, features=FEATURES):
    """Returns the metrics of a checkpoint on some features, by NumPy."""
    import tensorflow.compat.v1 as tf

    reader = tf.train.load_checkpoint(str(folder / f"model.ckpt-{step}"))
    weights, biases = (reader.get_tensor(f"linear/{name}") for name in ("weights", "biases"))
    errors = features @ weights + biases - (features @ [[1.5], [-2.0], [0.5]] + 3.0)
    return {"mean_absolute_error": np.abs(errors).mean(), "loss": (errors**2).mean()}


def read_metrics(folder, name="eval"):
    return json.loads((folder / name / "metrics.json").read_text())


def tags(folder, name="eval"):
    import tensorflow.compat.v1 as tf

    (file,) = (path for path in (folder / name).iterdir() if "tfevents" in path.name)
    return {
        (event.step, value.tag)
        for event in tf.train.summary_iterator(str(file))
        for value in event.summary.value
    }


def test_the_newest_checkpoint_is_evaluated_shown_and_written(run, folder):
    code, out, err = run(folder)
    assert (code, err) == (0, "")
    result, metrics = read_metrics(folder), expected(folder, 30)
    assert result["metrics"] == pytest.approx(metrics, rel=1e-4)
    assert (result["global_step"], result["checkpoint"]) == (30, str(folder / "model.ckpt-30"))
    first, heading, *rows, last = out.splitlines()
    assert first == f"evaluating {folder}/model.ckpt-30"
    assert heading == "evaluation at step 30"
    assert dict(map(str.split, rows)) == {k: f"{result['metrics'][k]:.4f}" for k in metrics}
    assert last.startswith("done in ") and last.endswith(f"results in {folder}/eval")
    written = {"losses/loss", "metrics/mean_absolute_error", "checkpoint_path"}
    assert tags(folder) == {(30, tag) for tag in written}


def test_a_checkpoint_can_be_named_by_its_path_or_its_folder(run, folder, tmp_path):
    elsewhere = shutil.copytree(folder, tmp_path / "elsewhere")
    for path, step in [(folder / "model.ckpt-10", 10), (elsewhere / "model.ckpt-20.index", 20)]:
        assert run(folder, "--checkpoint", path)[0] == 0
        assert read_metrics(folder)["global_step"] == step
        assert read_metrics(folder)["metrics"] == pytest.approx(expected(folder, step), rel=1e-4)
    assert run(folder, f"--checkpoint={elsewhere}")[0] == 0
    assert read_metrics(folder)["checkpoint"] == str(elsewhere / "model.ckpt-30")


def test_options_of_the_run_win_over_those_of_the_folder(run, folder):
    code, out, _ = run(folder, "--eval_batch_size", 4, "--eval_steps", 2, "--input.num_examples=16")
    assert code == 0
    assert out.count("note: the evaluation saw 8 of 16 examples, in their order in the data") == 1
    metrics = expected(folder, 30, np.random.RandomState(0).randn(16, 3)[:8])
    error = read_metrics(folder)["metrics"]["mean_absolute_error"]
    assert error == pytest.approx(metrics["mean_absolute_error"], rel=1e-4)


def test_an_evaluation_with_a_name_has_its_own_folder(run, folder):
    code, out, _ = run(folder, "--name", "other")
    assert code == 0
    assert out.rstrip().endswith(f"results in {folder}/eval_other")
    assert read_metrics(folder, "eval_other")["global_step"] == 30
    assert (30, "losses/loss") in tags(folder, "eval_other")
    assert not (folder / "eval").exists()


def test_with_output_the_folder_of_the_run_is_only_read(run, folder, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    code, out, _ = run(folder, "--output", tmp_path / "mine")
    assert code == 0 and out.splitlines()[-1].endswith(f"results in {tmp_path / 'mine'}")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert "losses/loss" in {tag for _, tag in tags(tmp_path, "mine")}
    assert json.loads((tmp_path / "mine" / "metrics.json").read_text())["global_step"] == 30


def test_with_continuous_each_new_checkpoint_is_evaluated_in_one_graph(
    run, folder, rotate, monkeypatch
):
    from tf_frame.runs.evaluation.evaluator import Evaluator
    from tf_frame.testing.toy import ToyModel

    builds, before, build = [], Evaluator.evaluate, ToyModel.build
    rotate(folder, 10)

    def evaluate_and_train(self, checkpoint, **arguments):
        evaluated = before(self, checkpoint, **arguments)
        rotate(folder, *range(10, evaluated.global_step + 11, 10))
        return evaluated

    def counted(*arguments):
        builds.append(1)
        return build(*arguments)

    monkeypatch.setattr(Evaluator, "evaluate", evaluate_and_train)
    monkeypatch.setattr(ToyModel, "build", counted)
    code, out, err = run(folder, "--continuous")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == f"waiting for checkpoints in {folder}, until step 30"
    headings = [line for line in lines if line.startswith("evaluation at")]
    assert headings == [f"evaluation at step {step}" for step in (10, 20, 30)]
    assert {step for step, _ in tags(folder)} == {10, 20, 30}
    assert len(builds) == 1
    assert read_metrics(folder)["global_step"] == 30


def test_with_continuous_the_interval_and_the_timeout_are_passed_on(run, folder, monkeypatch):
    arguments_seen = {}

    def checkpoints_iterator(model_dir, **arguments):
        arguments_seen.update(arguments, model_dir=model_dir)
        # The last step is 30, so nobody asks for the second one.
        yield from [str(folder / "model.ckpt-30"), str(folder / "model.ckpt-20")]

    monkeypatch.setattr(
        "tf_frame.runs.evaluation.evaluate.checkpoints_iterator", checkpoints_iterator
    )
    _, out, _ = run(folder, "--continuous", "--every_secs", 60, "--timeout_secs", 2.5)
    assert (arguments_seen["min_interval_secs"], arguments_seen["timeout"]) == (60.0, 2.5)
    assert arguments_seen["model_dir"] == str(folder)
    assert out.count("evaluation at step") == out.count("evaluation at step 30") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--name", "x"], "say which folder first"),
        (["FOLDER", "--name", "../x"], "--name ../x: results are written to MODEL_DIR/eval_"),
        (["FOLDER", "--name", ""], "--name : results are written to"),
        (["FOLDER", "--eval_steps", "0"], "--eval_steps: 0 is out of range"),
        (["FOLDER", "--eval_step", "1"], "did you mean --eval_steps?"),
        (["FOLDER", "--timeout_secs", "-1"], "--timeout_secs: -1.0 is out of range"),
        (["FOLDER", "--every_secs", "5"], "--every_secs has no effect without --continuous"),
        (["FOLDER", "--timeout_secs", "5"], "--timeout_secs has no effect without"),
        (["FOLDER", "--continuous", "--checkpoint", "x"], "--checkpoint names one checkpoint, "),
        (["FOLDER", "--checkpoint", "FOLDER/model.ckpt-31"], "did you mean FOLDER/model.ckpt-3"),
        (
            ["FOLDER", "--input.num_examples", "0"],
            "the evaluation split of the input 'toy' of tf-frame-toy 1.0 is empty",
        ),
    ],
)
def test_errors_say_what_to_do_and_are_no_tracebacks(run, folder, words, message):
    code, _, err = run(*[word.replace("FOLDER", str(folder)) for word in words])
    assert code == 2
    assert message.replace("FOLDER", str(folder)) in err


def test_a_checkpoint_of_another_architecture_is_an_error(run, folder, save_checkpoints):
    path = save_checkpoints(folder / "other", {0: {"linear/weights": [[1.0]] * 4}})
    code, _, err = run(folder, "--checkpoint", path)
    assert code == 1
    assert "linear/weights [3, 1]: [4, 1] in the checkpoint" in err
    assert "linear/biases [1]: not in the checkpoint" in err


def test_metrics_that_are_no_numbers_are_shown_as_what_they_are(run, folder, monkeypatch):
    from tf_frame.runs.evaluation.evaluator import Evaluated, Evaluator

    metrics = {"array": np.zeros([2, 3]), "image": b"1234", "one": np.float32(1), "s": 1e-7}
    evaluated = Evaluated(metrics=metrics, summary=None, global_step=30)
    monkeypatch.setattr(Evaluator, "evaluate", lambda *args, **kwargs: evaluated)
    _, out, _ = run(folder)
    rows = [line.split(maxsplit=1) for line in out.splitlines()[2:-1]]
    assert rows == [
        ["array", f"{folder}/eval/metrics.json"],
        ["image", "4 bytes"],
        ["one", "1.0000"],
        ["s", "1.000e-07"],
    ]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    ("signum", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)],
)
def test_a_signal_ends_the_waiting_with_a_clear_line(folder, toy_environment, signum, code):
    process = forked.Popen(
        [*TF_FRAME, "evaluate", str(folder), "--continuous", "--max_steps", "40"],
        env=toy_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        for line in process.stdout:
            if line.startswith("  loss"):
                break
        process.send_signal(signum)
        output = process.communicate(timeout=60)[0]
    finally:
        process.kill()
        process.wait()
    assert process.returncode == code, output
    assert "Traceback" not in output
    assert f"stopped; 1 checkpoint is evaluated, in {folder}/eval" in output


def test_a_signal_during_an_evaluation_ends_it(run, folder, monkeypatch):
    from tf_frame.runs.evaluation.evaluator import Evaluator

    before = Evaluator.evaluate

    def interrupted(self, checkpoint, **arguments):
        signal.raise_signal(signal.SIGINT)
        return before(self, checkpoint, **arguments)

    monkeypatch.setattr(Evaluator, "evaluate", interrupted)
    code, _, err = run(folder)
    assert code == 130
    assert "stopped; 0 checkpoints are evaluated" in err
    assert not (folder / "eval").exists()


def test_with_continuous_the_timeout_ends_it_and_a_run_without_checkpoints_fails(
    run, folder, tmp_path
):
    code, out, _ = run(folder, "--continuous", "--timeout_secs", "0", "--max_steps", "40")
    assert (code, "no new checkpoint for 0 s after step 30" in out) == (0, True)
    (folder / "model.ckpt-20.index").write_bytes(b"nothing")
    code, _, err = run(folder, "--checkpoint", folder / "model.ckpt-20")
    assert (code, "model.ckpt-20 cannot be read: " in err) == (1, True)
    (tmp_path / "file").write_text("")
    code, out, err = run(folder, "--output", tmp_path / "file" / "eval")
    assert (code, "evaluating" in out) == (2, False)
    assert err.startswith(f"tf-frame: --output {tmp_path}/file/eval cannot be written: ")
    for file in [*folder.glob("model.ckpt*"), folder / "checkpoint"]:
        file.unlink()
    code, _, err = run(folder, "--continuous", "--timeout_secs", "0")
    assert code == 1 and "there was no checkpoint in" in err and "within 0 s" in err
    code, _, err = run(folder)
    assert (code, f"there is no checkpoint in the folder {folder}" in err) == (2, True)


@pytest.mark.parametrize(("last_step", "is_hinted"), [(30, True), (60, False)])
def test_an_evaluation_at_chance_after_the_last_step_ends_with_a_hint(
    run, folder, monkeypatch, last_step, is_hinted
):
    from tf_frame.testing.toy import ToyModel

    monkeypatch.setattr(ToyModel, "chance_levels", lambda self, metrics: {"loss": 0.9})
    code, out, _ = run(folder, "--max_steps", last_step)
    assert code == 0
    assert ("\nhint: loss 0." in out) == is_hinted
    assert (f"--model_dir {folder} --max_steps 120\n" in out) == is_hinted


def test_a_part_of_other_data_is_noted(capsys):
    params = {"eval_fraction": 0.1}
    setup = SimpleNamespace(input=SimpleNamespace(values=lambda: params))
    counts = {Mode.TRAIN: 9, Mode.EVAL: 1}
    source = SimpleNamespace(info=InputInfo(num_examples=counts))
    evaluate._note_part(setup, source)
    assert capsys.readouterr().out == (
        "note: 1 of 10 examples are evaluated, the others are for training; "
        "--input.eval_fraction 1 evaluates all of a folder that is not divided\n"
    )
    for changes in ({"eval_fraction": 1.0}, {"eval_fraction": 0.0}, {}):
        params.clear()
        params.update(changes)
        evaluate._note_part(setup, source)
    params["eval_fraction"], counts[Mode.TRAIN] = 0.1, None  # It is not known.
    evaluate._note_part(setup, SimpleNamespace(info=InputInfo(num_examples=counts)))
    assert capsys.readouterr().out == ""


CAT_DOG = InputInfo(num_classes=2, class_names=("cat", "dog"))


@pytest.mark.parametrize(
    ("names", "are_mixed_up"),
    [
        (("cat", "dog"), False),
        (("cat", "Dog"), False),  # A new name is a warning.
        (("dog", "cat"), True),
        (("ant", "cat"), True),
        (("cat",), True),
        (("cat", "dog", "elk"), True),
        ((), False),
    ],
)
def test_labels_that_mean_other_classes_are_refused(names, are_mixed_up):
    info = InputInfo(num_classes=len(names) or 2, class_names=names)
    assert evaluate._are_mixed_up(info, CAT_DOG) == are_mixed_up


@pytest.mark.parametrize(
    ("option", "remedy"),
    [
        ("eval_dir", "; --input.eval_dir instead of --input.data_dir finds the classes by name"),
        ("classes", "--input.classes a file with a line for each of the training: cat, dog"),
        ("", "; number the classes of the data as the training did: cat, dog"),
    ],
)
def test_the_remedy_fits_the_input(option, remedy):
    source = SimpleNamespace(matches_classes_by=option)
    assert evaluate._how_to_match(source, CAT_DOG).endswith(remedy)


def test_other_data_has_a_folder_of_its_own():
    values = {"data_dir": "~/some/other data/", "eval_dir": "here"}
    setup = SimpleNamespace(input=SimpleNamespace(values=lambda: values))
    assert evaluate._folder_name(setup, "data_dir") == "other_data"
    assert evaluate._folder_name(setup, "eval_dir") == "here"
    assert evaluate._is_option("--input.data_dir=x", "input.data_dir")
    assert not evaluate._is_option("--input.data_dirs", "input.data_dir")
