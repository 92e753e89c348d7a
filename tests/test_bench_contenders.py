"""Contenders of benchmarks, `tools/bench/contenders.py`: questions, answers, turns."""

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "tools" / "bench"
contender = runpy.run_path(str(FOLDER / "contenders.py"))["contender"]

TRAINS = """
from contenders import TrainingTurns, answer, infer_in_turns

turns, steps = TrainingTurns(), 0
turns.begin()
while turns.goes_on:
    print("a line that is no answer")
    turns.step()
    steps += 1
answer(steps)
infer_in_turns(len, [1, 2, 3])
"""


def started(program, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(FOLDER))
    return contender([sys.executable, "-c", program])


def test_a_training_takes_turns_and_infers_after_them(monkeypatch):
    with started(TRAINS, monkeypatch) as ask:
        rates = ask("train 0") + ask("train 0")
        assert len(rates) == 2 and min(rates) > 0
        assert ask("stop") == [2]
        (images_per_sec,) = ask("infer 2 0.01")
        assert images_per_sec > 2


def test_a_process_that_ends_without_an_answer_is_named(monkeypatch):
    with (
        started("raise SystemExit(3)", monkeypatch) as ask,
        pytest.raises(SystemExit, match="ended without an answer: 3"),
    ):
        ask("train 1")
