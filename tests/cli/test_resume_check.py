"""A job in a folder with a checkpoint of another model is refused before its tasks start."""

import sys

import pytest
import yaml

from tf_frame.cli import resume_check
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.launch import local
from tf_frame.testing.distributions import write_toy_distribution
from tf_frame.testing.toy import WEIGHTS

SAYS_NO = [sys.executable, "-S", "-c", "import sys; print('no'); sys.exit(2)"]
FITS = {"linear/weights": WEIGHTS, "linear/biases": [3.0]}
OTHER = {"linear/weights": [[1.0]] * 4, "linear/biases": [3.0]}


@pytest.fixture
def words(tmp_path, monkeypatch, save_checkpoints):
    """Makes the folder of a run with a checkpoint; returns the words after `run`."""
    write_toy_distribution(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")

    def words(values, *more, options=None):
        folder = tmp_path / "run"
        folder.mkdir()
        save_checkpoints(folder, {3: values})
        if options is not None:
            settings = {"plugin": "toy", "input": "toy", "optimizer": "sgd", **options}
            (folder / "config.yaml").write_text(yaml.safe_dump(settings))
        return ["--plugin", "toy", "--optimizer", "sgd", "--model_dir", str(folder), *more]

    return words


@pytest.mark.parametrize(
    ("values", "optimizer", "answer"),
    [
        (FITS, "sgd", ""),
        (OTHER, "sgd", "linear/weights [3, 1]: [4, 1] in the checkpoint; use the options"),
        (
            FITS,
            "momentum",
            "linear/weights/Momentum [3, 1]: not in the checkpoint; use the options",
        ),
    ],
)
def test_variables_are_compared_with_the_checkpoint(words, capsys, values, optimizer, answer):
    code = resume_check.main([*words(values), "--optimizer", optimizer])
    out = capsys.readouterr().out
    assert (code, out == "") == ((2, False) if answer else (0, True))
    assert answer in out and out.count("\n") == code // 2


@pytest.mark.parametrize(
    ("more", "options", "is_asked"),
    [
        (["--max_steps", "9", "--hook", "heartbeat"], {"max_steps": 5}, False),
        (["--model.l2", "0.5"], {"model": {"l2": 0.0}}, True),
        (["--learning_rate", "0.5"], {"learning_rate": 0.1}, True),
        ([], {"plugin": "another"}, True),
        ([], None, True),
    ],
)
def test_a_process_is_asked_where_variables_may_differ(
    words, monkeypatch, capsys, more, options, is_asked
):
    monkeypatch.setattr(resume_check, "PROGRAM", SAYS_NO)
    run_words = words(FITS, *more, options=options)
    setup = parse_command_line(run_words).setup()
    if is_asked:
        with pytest.raises(resume_check.ConfigError, match="^no$"):
            resume_check.check_resume(setup, run_words)
    else:
        resume_check.check_resume(setup, run_words)
    # Before a wait of seconds.
    said = f"comparing the model with the checkpoint in {setup.model_dir} ...\n"
    assert capsys.readouterr().out == (said if is_asked else "")


def test_no_task_starts_where_the_answer_is_no(words, tf_frame, monkeypatch):
    monkeypatch.setattr(local, "main", lambda *_: pytest.fail("it was started"))
    monkeypatch.setattr(resume_check, "PROGRAM", SAYS_NO)
    code, out, err = tf_frame("launch", "--", "run", *words(FITS))
    assert (code, out.count("\n"), err) == (2, 1, "tf-frame: no\n")


@pytest.mark.slow
@pytest.mark.process
def test_no_task_starts_in_the_folder_of_another_model(words, tf_frame, monkeypatch):
    monkeypatch.setattr(local, "main", lambda *_: pytest.fail("it was started"))
    run_words = words(OTHER, options={"optimizer": "adam"})
    code, out, err = tf_frame("launch", "--num_workers", "2", "--", "run", *run_words)
    assert (code, out.count("\n"), err.count("\n")) == (2, 1, 1)
    assert "is a checkpoint of another model: 1 variables differ, such as linear/weights" in err
