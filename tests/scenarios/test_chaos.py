"""`tools/chaos`: runs that are killed again and again end like runs that were never killed."""

import re
import sys
from pathlib import Path

import pytest

import forked
from source_tree import ROOT

pytestmark = [pytest.mark.process, pytest.mark.timeout(3000)]
CHAOS = ROOT / "tools" / "chaos"


def chaos(*words):
    """Returns the exit status and what is printed."""
    done = forked.run(
        [sys.executable, str(CHAOS / "chaos.py"), *words], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_a_killed_run_ends_with_the_variables_evaluations_and_decisions_of_another(tmp_path):
    status, said = chaos("early_stopping", "--kills", "2", "--keep", str(tmp_path))
    assert status == 0, said
    assert re.search(r"^early_stopping: 2 kills in \d runs, 0 differences$", said, re.MULTILINE)
    unharmed = tmp_path / "early_stopping" / "unharmed"
    # The run is no trivial one: it evaluates several times, and stops before its last step.
    assert "early stopping at global step" in unharmed.with_suffix(".log").read_text()
    assert (unharmed / "metrics.csv").read_text().count(",eval,") >= 2


@pytest.mark.slow
def test_a_hundred_kills_over_all_kinds_of_runs():
    status, said = chaos("--kills", "7", "--seed", "1")
    assert status == 0, said
    kills = [int(text) for text in re.findall(r"(\d+) kills in", said)]
    assert len(kills) >= 15 and sum(kills) >= 100


def damage(folder, what):
    """Changes a part of a run."""
    if what == "metrics.csv":
        path = folder / what
        path.write_text(path.read_text().replace(",eval,", ",evil,"))
    elif what == "result.json":
        path = folder / what
        path.write_text(path.read_text().replace('"metrics_step": ', '"metrics_step": 1'))
    elif what == "variables":
        for path in folder.glob("model.ckpt-4.data*"):
            other = folder / path.name.replace("ckpt-4", "ckpt-8")
            path.write_bytes(other.read_bytes())
            path = folder / "model.ckpt-4.index"
            path.write_bytes((folder / "model.ckpt-8.index").read_bytes())
    else:
        for path in (folder / "eval").glob("events*"):
            path.unlink()


@pytest.mark.slow
def test_differences_are_found(tmp_path, monkeypatch):
    import shutil

    status, said = chaos("plain", "--kills", "0", "--keep", str(tmp_path))
    assert status == 0, said
    monkeypatch.syspath_prepend(str(CHAOS))
    from compare import differences

    unharmed = tmp_path / "plain" / "unharmed"
    for what in ("metrics.csv", "result.json", "variables", "evaluations"):
        copy = Path(shutil.copytree(unharmed, tmp_path / what))
        assert list(differences(unharmed, copy)) == []
        damage(copy, what)
        assert [line.startswith(what) for line in differences(unharmed, copy)] == [True]


def test_an_unknown_kind_is_refused():
    status, said = chaos("everything")
    assert status == 2 and "no kind everything; there are plain, keep_best" in said
