"""The page "Many runs" is followed, command by command."""

import json
import re
import shlex
import subprocess
import sys

import pytest

from source_tree import ROOT
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.config.flags import parse_words
from tf_frame.config.option import declared_options, resolve

PAGE = (ROOT / "docs" / "runs.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line, comments=True)
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]


def test_all_commands_are_those_of_tf_frame():
    assert len(COMMANDS) == 9 and all(words[0] == "tf-frame" for words in COMMANDS)
    assert {words[1] for words in COMMANDS} == {"run", "runs", "compare", "sweep"}


@pytest.mark.parametrize("words", [w for w in COMMANDS if w[1] == "run"], ids=" ".join)
def test_the_options_of_each_run_exist(words):
    assert parse_command_line(words[2:]).setup().model.name == "classification"


def test_the_sweep_can_begin():
    pytest.importorskip("optuna")
    from tf_frame_sweep.command import Sweep
    from tf_frame_sweep.plan import make_plan

    (words,) = [words[2:] for words in COMMANDS if words[1] == "sweep"]
    values, run = parse_words(words, declared_options(Sweep.Params), stops_at_word=True)
    plan = make_plan(resolve(Sweep.Params, [values]), run)
    assert list(plan.space) == ["learning_rate", "optimizer"] and plan.rises


@pytest.mark.slow
@pytest.mark.process
def test_the_page_does_as_it_says(tmp_path):
    outputs = {}
    for words in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", "tf_frame", *words[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        outputs[words[1]] = done.stdout
    verdict = outputs["compare"]
    assert "A, B differ in their seeds only" in verdict
    assert re.search(r"C, D \(learning_rate 0.01\)\s+are (not proved to be )?better", verdict)
    assert "4 runs by accuracy" in (tmp_path / "compare.html").read_text()
    assert len(re.findall(r"classification +done", outputs["runs"])) == 4
    assert "best: trial" in outputs["sweep"] and list(tmp_path.glob("sweeps/*/best.yaml"))
    result = json.loads((tmp_path / "runs" / "timed" / "result.json").read_text())
    assert result["stopped_by"] == "--max_secs" and result["metrics"]
