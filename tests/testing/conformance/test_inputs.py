"""Each check of inputs finds its fault, and no other check fails on it."""

import re

import pytest

from nonconforming import inputs
from nonconforming.healthy import Points, QueuedPoints
from slow_cases import slow, slow_but
from tf_frame import Input
from tf_frame.errors import DataError
from tf_frame.plugin.kinds import INPUT

NAMES, SIZE = "test_elements_are_as_declared", "test_batches_have_the_asked_size"
RESUMED = "test_interrupted_run_reads_the_same_batches"
COUNTED = "test_num_examples_is_true"
REPORT = "test_data_report_agrees_with_info"
FAULTS = [
    (inputs.FeatureNamesAreAText, "test_definition_fits_the_contract", "a list of names"),
    (inputs.CountsByText, "test_info_is_complete", "{'test': 3}"),
    (inputs.ReportsAnotherNumber, REPORT, "has 99 examples for TRAIN, and info.num_examples has"),
    (inputs.ReportsNoJson, REPORT, "cannot be written as JSON: .*bytes"),
    (inputs.ReportsOtherCounts, REPORT, "add up to 2, but there are"),
    (inputs.LacksAFeature, NAMES, "the features for training lack weight"),
    slow(inputs.OtherTypesInEvaluation, NAMES, "labels is float32 .* and float64"),
    slow(inputs.UnknownRank, NAMES, r"features\['size'\] has a shape of unknown rank"),
    (inputs.LeavesARemainder, SIZE, "training batch 5 .*drop_remainder=True"),
    (
        inputs.ChangesTheSizeOfOne,
        SIZE,
        "give each data set one size",
    ),
    (inputs.Ends, "test_training_repeats", "ends after 4 batches of 2; repeat it"),
    (inputs.EndsAfterManyBatches, "test_training_repeats", "ends after 4500 batches of 2"),
    (inputs.OtherNamesInEvaluation, NAMES, "for training are x, for evaluation X"),
    (inputs.DrawsInItsConstructor, RESUMED, "global random numbers of NumPy"),
    (inputs.RepeatsEvaluation, "test_evaluation_ends_after_one_pass", "has 7; do not repeat"),
    (inputs.CountsWrongly, COUNTED, "has 7 examples, and info.num_examples says 8"),
    (inputs.DrawsByAStatefulOperation, "test_position_can_be_saved", "stateless"),
    (inputs.CountsInPython, RESUMED, "differs in 2 of 2 values"),
]
# A check that has to be left out, because the fault keeps it from its data.
LEFT_OUT = {
    inputs.RepeatsEvaluation: COUNTED,
    inputs.DrawsByAStatefulOperation: RESUMED,
    inputs.CountsByText: REPORT,
}


class Folder(Input):
    """Data of the user."""

    def __init__(self, *, params):
        raise DataError("there is no folder ''")

    def dataset(self, mode, context):
        raise AssertionError("it cannot be constructed")


@pytest.mark.parametrize(
    ("source", "check", "problem"),
    [
        (inputs.InfoIsADict, "test_info_is_complete", "make it a property that returns"),
        (inputs.TrainsOnNothing, NAMES, "the data for training has not one batch"),
        (inputs.EndsBySystemExit, NAMES, "cannot be read: .*SystemExit: 3"),
    ],
)
def test_checks_that_a_fault_makes_impossible_are_left_out(fails_one, source, check, problem):
    checks = fails_one(check, problem, INPUT, source)
    reasons = {result.problem for result in checks.values() if result.state == "skipped"}
    assert reasons <= {f"not checked, because {check.removeprefix('test_')} fails"}


@pytest.mark.parametrize("source", slow_but(0, [Points, inputs.TwoSizes, inputs.SparsePoints]))
def test_a_healthy_input_passes(passes, source):
    passes(INPUT, source)


def test_an_input_of_a_queue_passes(passes):
    skipped = ["test_position_can_be_saved", RESUMED]
    checks = passes(INPUT, QueuedPoints, skipped=skipped)
    assert {checks[name].problem for name in skipped} == {"the input declares exact_resume = False"}


def test_an_input_of_python_functions_passes_as_a_run_reads_it_again(passes):
    skipped = ["test_position_can_be_saved", RESUMED]
    checks = passes(INPUT, inputs.CallsPython, skipped=skipped)
    assert re.fullmatch(
        r"no checkpoint holds its Python functions, <lambda> \(.*\.py, line \d+\): a resumed run "
        "reads the input again up to its step, and goes on exactly if its Python functions return "
        "the same again",
        checks["test_position_can_be_saved"].problem,
    )


@pytest.mark.parametrize(
    ("source", "check", "problem"), slow_but((0, 4, 8, -1), FAULTS, several=True)
)
def test_only_the_check_of_the_rule_fails(fails_only, source, check, problem):
    fails_only(check, problem, INPUT, source, skipped=[LEFT_OUT.get(source)])


def test_checks_without_data_are_skipped(results):
    checks = results(INPUT, Folder)
    states = [check.state for check in checks.values()]
    assert states.count("ok") == 3 and states.count("skipped") == len(states) - 3
    assert "there is no folder" in checks[SIZE].problem
