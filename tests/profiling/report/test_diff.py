"""Comparison of two reports: what is found, what is noise, and how operations are matched."""

import dataclasses

import pytest

from example_report import example_report
from tf_frame.profiling.report.diff import compare, typical_ms
from tf_frame.profiling.report.diff_text import format_comparison
from tf_frame.profiling.report.formats import LAYERS

NAMES = ("phases", "hooks", "kinds", "layers", "operations")


def compared(**changes):
    return compare(example_report(), example_report(seed=1, **changes))


def significant(changes):
    return [each.name for each in changes if each.significant]


def test_equal_runs_slow_steps_and_errors_of_sums_are_no_difference():
    found = compared()
    assert not found.step.significant and abs(found.step.percent) < 3
    assert [significant(getattr(found, name)) for name in NAMES] == [[]] * len(NAMES)
    report = example_report()
    times = (*report.step.ms_of_steps[:-1], 5000.0)
    slow = dataclasses.replace(report, step=dataclasses.replace(report.step, ms_of_steps=times))
    found = compare(report, slow)
    assert not found.step.significant and found.step.percent < 3
    before = dataclasses.replace(report.kinds[0], ms_of_steps=(0.3,) * 10)
    after = dataclasses.replace(before, ms_of_steps=(0.1 + 0.2,) * 10)
    reports = [dataclasses.replace(report, kinds=(row,)) for row in (before, after)]
    assert compare(*reports).kinds[0].p == 1


def test_slower_phases_operations_and_hooks_are_found():
    found = compared(factor=1.5, of=["waiting for input"])
    assert significant(found.phases) == ["waiting for input"]
    assert found.phases[0].difference_ms == pytest.approx(15.5, abs=1.5)
    assert found.phases[0].percent == pytest.approx(50, abs=5)
    assert found.step.significant and found.step.difference_ms == pytest.approx(15.5, abs=2)
    assert not significant(found.hooks)
    found = compared(factor=0.5, of=["BackpropFilter"])
    (name,) = significant(found.operations)
    assert name == "gradients/backbone/conv_1/Conv2D_grad/Conv2DBackpropFilter"
    assert found.operations[0].percent == pytest.approx(-50, abs=3)
    assert significant(found.layers) == ["backbone/conv_1"]
    assert significant(found.kinds) == ["convolution"]
    found = compared(factor=3, of=["LoggingHook"])
    assert significant(found.hooks) == ["hook LoggingHook"]
    assert "hook LoggingHook" not in [each.name for each in found.phases]


def test_differences_that_may_be_noise_are_never_first():
    found = compared(factor=1.2, of=["AddN", "Momentum"])
    order = [each.significant for each in found.operations]
    sizes = [abs(each.difference_ms) for each in found.operations if each.significant]
    assert order == sorted(order, reverse=True) and set(order) == {True, False}
    assert sizes == sorted(sizes, reverse=True)


def test_names_of_operations_are_matched():
    (shared,) = [each for each in compared().operations if each.name == "backbone/conv_1/Relu"]
    assert shared.before_ms == pytest.approx(9.0 + 9.4, rel=0.03)
    report = example_report()
    operations = [
        dataclasses.replace(row, name=row.name.replace("AddN_17", "AddN_21"))
        for row in report.operations
    ]
    other = dataclasses.replace(report, operations=operations)
    names = [each.name for each in compare(report, other).operations]
    assert "gradients/AddN" in names and "backbone/conv_1/Relu" in names
    names = [each.name for each in compared().operations]
    assert {"gradients/AddN_17", "backbone/conv_1/Relu", "backbone/conv_2/Relu"} <= set(names)


def test_new_and_tiny_operations_and_other_conditions():
    report = example_report()
    before = dataclasses.replace(
        report, operations=[each for each in report.operations if "AddN" not in each.name]
    )
    first = compare(before, report).operations[0]
    assert (first.name, first.before_ms, first.percent) == ("gradients/AddN", 0.0, None)
    assert first.significant and first.after_ms == pytest.approx(2.0, rel=0.05)
    assert "Shape" not in [each.name for each in compared().operations]
    other = dataclasses.replace(example_report(), cores=8, examples_per_step=16)
    assert compare(example_report(), other).notes == (
        "the number of cores differs: 2 before, 8 after",
        "the number of examples per step differs: 8 before, 16 after",
    )


@pytest.mark.parametrize(("steps", "can_tell"), [(3, False), (4, True), (1, False)])
def test_few_steps_cannot_tell(steps, can_tell):
    found = compare(example_report(steps=steps), example_report(steps=steps, factor=2, seed=1))
    assert (found.can_tell, found.step.significant) == (can_tell, can_tell)
    assert ("too few" in format_comparison(found)) == (not can_tell)


@pytest.mark.parametrize(
    ("times", "expected"),
    [([2, 3, 100], 3), ([0, 0, 0, 8], 2), ([0, 4, 0, 6], 2.5), ([0, 0], 0)],
)
def test_the_typical_time_counts_steps_without_it(times, expected):
    assert typical_ms(times) == expected


def test_the_text_has_significant_differences_first_and_marks_noise():
    text = format_comparison(compared(factor=1.5, of=["waiting for input"]))
    lines = text.splitlines()
    assert lines[:2] == [
        "before  2026_01_31_12_00_00_step_100  10 steps",
        "after   2026_01_31_12_00_00_step_100  10 steps",
    ]
    assert lines[3].startswith("step  ") and "slower, p = 1.1e-05" in lines[3]
    phases = lines.index("phases: 1 of 4 differ")
    assert lines[phases + 2].split()[0].startswith("+1") and lines[phases + 2].endswith("for input")
    assert lines[phases + 3].endswith("(may be noise)")
    assert "hooks: none of 3 differs by more than noise" in lines
    assert f"\n{LAYERS.lower()}: 1 of " in format_comparison(compared(factor=2, of=["conv_1"]))


def test_the_text_names_what_has_no_name_and_what_is_left_out():
    report = example_report()
    reports = [
        dataclasses.replace(
            report,
            operations=[
                dataclasses.replace(report.operations[0], name=f"{i}/x", ms_of_steps=[i * ms] * 10)
                for i in range(1, 21)
            ],
        )
        for ms in (1.0, 2.0)
    ]
    text = format_comparison(compare(*reports))
    assert "operations: 20 of 20 differ" in text and "and 8 more; --json has all" in text
    slower = format_comparison(compared(factor=2, of=["Momentum"]))
    assert "(outside of all scopes)" in slower
