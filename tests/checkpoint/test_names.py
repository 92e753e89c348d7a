import os
import re
from pathlib import Path

import pytest

import tf_frame
from tf_frame.checkpoint import names
from tf_frame.checkpoint.find.newest import newest_checkpoint
from tf_frame.checkpoint.names import checkpoint_path, checkpoint_prefix, step_in_path
from tf_frame.checkpoint.write.best import BestCheckpoints
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup


def test_the_step_is_read_back_from_the_path():
    assert checkpoint_path("runs/first", 120) == os.path.join("runs/first", "model.ckpt-120")
    assert step_in_path(checkpoint_path("runs/first", 120)) == 120


@pytest.mark.parametrize("name", ["model.ckpt-x", "model.ckpt", "other-5", "model.ckpt-5.index"])
def test_other_names_have_no_step(name):
    assert step_in_path(name) is None


def test_suffixes_are_taken_off():
    suffixes = (".index", ".meta", ".data-00001-of-00012", "")
    assert {checkpoint_prefix("a/b" + suffix) for suffix in suffixes} == {"a/b"}
    for path in (".index", "a/b.data", "a/b.indexes", "model.index.ckpt-1"):
        assert checkpoint_prefix(path) == path


@pytest.mark.slow
def test_runs_use_the_names_of_this_module_everywhere(tmp_path, monkeypatch):
    """Trains, resumes, evaluates, keeps the best, and finds a lost list, under another name."""
    monkeypatch.setattr(names, "PREFIX", "weights")

    def run(max_steps):
        lines = []
        options = {"evaluate": True, "keep_best": 1, "best_metric": "loss"}
        setup = make_setup(
            ToyModel, ToyInput, str(tmp_path), max_steps=max_steps, save_steps=2, **options
        )
        run_setup(setup, report=lines.append)
        return "\n".join(lines)

    run(2)
    (tmp_path / "checkpoint").unlink()
    text = run(4)
    assert f"resuming from {tmp_path}/weights-2" in text
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "weights-4")
    best = BestCheckpoints(str(tmp_path), metric="loss", higher_is_better=False)
    assert [Path(best.path(step)).name for step, _ in best.scored()] == ["weights-4"]
    assert (tmp_path / "best" / "weights-4.index").exists()
    assert not list(tmp_path.rglob("*model.ckpt*"))


def test_no_other_module_spells_the_name():
    """Examples in docstrings are allowed: they are paths in `runs/first/`, or `<folder>/`."""
    root = Path(tf_frame.__file__).parent
    spelling = re.compile(r"(?<!runs/first/)(?<!<folder>/)model\.ckpt")
    modules = {path for path in root.rglob("*.py") if spelling.search(path.read_text("utf-8"))}
    assert modules <= {root / "checkpoint" / "names.py"}
