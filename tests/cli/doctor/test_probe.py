"""The child process of `tf-frame doctor`: answers, crashes and its time limit."""

import json
import subprocess
import sys

import pytest

from tf_frame.cli.doctor import probe
from tf_frame.cli.doctor.probe import Answer, Child

BEGIN = "import os, signal, sys, json\ndef say(**line): print(json.dumps(line), flush=True)\n"


@pytest.fixture
def answers(monkeypatch):
    """Runs a program in place of `probe`; returns the answers to the parts `a` and `b=1`."""

    def answers(program, **options):
        monkeypatch.setattr(probe, "PROGRAM", (sys.executable, "-S", "-c", BEGIN + program))
        with Child(["a", "b=1"], **options) as started:
            return started.answers()

    return answers


def test_results_and_errors(answers):
    by_part = answers(
        "say(begins='a'); say(result=[1]); say(begins='b'); say(error='ValueError: no')"
    )
    assert by_part == {"a": Answer(result=[1]), "b": Answer(error="ValueError: no")}


def test_a_crash_names_the_signal_and_the_last_line(answers):
    by_part = answers(
        "say(begins='a'); print('needs AVX', file=sys.stderr, flush=True); "
        "os.kill(os.getpid(), signal.SIGILL)"
    )
    assert by_part["a"].error == ("the process ended by itself (Illegal instruction): needs AVX")
    assert (by_part["a"].tried, by_part["b"].tried) == (True, False)


def test_a_process_that_never_begins(answers):
    by_part = answers("sys.exit('no such module')")
    assert by_part["a"].error == "the process ended by itself (exit code 1): no such module"
    assert not by_part["b"].tried


def test_the_time_limit_keeps_what_was_answered(answers):
    waits = "say(begins='a'); say(result=1); say(begins='b'); print('{', end='', flush=True)\n"
    by_part = answers(waits + "signal.pause()", max_secs=0.5)
    assert by_part == {"a": Answer(result=1), "b": Answer(error="no answer after 0.5 s")}


def test_the_process_ends_with_the_block(monkeypatch):
    monkeypatch.setattr(probe, "PROGRAM", (sys.executable, "-S", "-c", "input()"))
    with pytest.raises(KeyboardInterrupt), Child(["a"]) as started:
        raise KeyboardInterrupt
    assert started._process.poll() is not None


def test_the_probe_answers_although_an_import_prints_and_fails(tmp_path):
    (tmp_path / "tensorboard").mkdir()
    (tmp_path / "tensorboard/__init__.py").write_text("print('chatter')\nraise SystemExit(3)\n")
    done = subprocess.run(
        [*probe.PROGRAM, "profile_tab", f"folder={tmp_path}", f"folder={tmp_path}/none"],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0] == {"begins": "profile_tab"}
    assert lines[1] == {"error": "SystemExit: 3"}
    assert lines[3] == {"result": None}
    assert "FileNotFoundError" in lines[5]["error"]
    assert "chatter" in done.stderr
