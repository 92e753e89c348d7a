"""The small modules of tf.contrib compute what TensorFlow 1.15 computed."""

import importlib
import json
from pathlib import Path

import pytest

from tf_frame_legacy import names

from .contrib_cases import CASES, OPTIMIZERS, made_by

TABLE = json.loads((Path(__file__).parent / "contrib.json").read_text(encoding="utf-8"))
# Programs that take long, or that others cover in part.
SLOW = {
    "adamax",
    "metric_learning",
    "add_sign",
    "lars_nesterov",
    "momentumw",
    "moving_average_beside",
    "multitask",
    "power_sign",
    "scaled",
    "sgdw",
    "warps",
}

# The distance of a point to itself is the square root of what rounding leaves of a difference of
# squares, some 1e-6: it changes with the processor, and with the instructions that a build chooses.
ROUNDED = {("warps", part): 0.01 for part in (3, 10, 11)}  # Splines of order 1.


class OldModule:
    """tf.contrib or a module of it, whose names come from the table."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        full = f"{self._name}.{attribute}"
        row = names.find(full)
        if row is None or not row.target:
            return OldModule(full)
        module, _, name = row.target.rpartition(".")
        return getattr(module_named(module), name)


def module_named(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        module, _, attribute = name.rpartition(".")
        return getattr(module_named(module), attribute)


def flat(numbers):
    """Each number by its place, so that a difference shows where it is."""
    if isinstance(numbers, dict):
        return {
            (key, *place): n for key, each in numbers.items() for place, n in flat(each).items()
        }
    if isinstance(numbers, list):
        return flat(dict(enumerate(numbers)))
    return {(): numbers}


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.slow] * (case in SLOW)) for case in CASES]
)
def test_equals_the_table(case):
    actual, expected = flat(made_by(case, OldModule("tf.contrib"))), flat(TABLE[case])
    numbers = {place for place, value in expected.items() if isinstance(value, float)}
    for part in {place[:1] for place in numbers}:
        of_part = [place for place in numbers if place[:1] == part]
        tolerance = ROUNDED.get((case, *part), 2e-5)
        assert {p: actual.get(p) for p in of_part} == pytest.approx(
            {p: expected[p] for p in of_part}, rel=1e-3, abs=tolerance, nan_ok=True
        )
    for values in (actual, expected):
        for place in numbers:
            del values[place]
    assert actual == expected


@pytest.mark.slow
@pytest.mark.parametrize("case", OPTIMIZERS)
def test_optimizers_with_reference_variables(case, reference_variables):
    test_equals_the_table(case)
