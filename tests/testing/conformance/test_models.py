"""Each check of models finds its fault, and no other check fails on it."""

import importlib
import re

import pytest

from nonconforming import models
from nonconforming.healthy import Line, LineWithTrainOp, Points
from tf_frame.plugin.kinds import MODEL
from tf_frame.testing.conformance import ModelConformance
from tf_frame.testing.conformance.golden import locate
from tf_frame.testing.conformance.suite import Conformance

GOLDEN = "test_golden_checkpoint_restores"
# A second fault that the same check finds is in the slow suite.
FAULTS = [
    (models.PresetsAreAList, "test_definition_fits_the_contract", r"presets is \['large'\]"),
    pytest.param(
        models.OptionWithoutHelp,
        "test_options_have_help_and_usable_defaults",
        "depth have no help",
        marks=pytest.mark.slow,
    ),
    pytest.param(
        models.KeepsVariables,
        "test_builds_twice_in_fresh_graphs",
        "keep no tensors on it",
        marks=pytest.mark.slow,
    ),
    (models.CountsItsGraphs, "test_builds_twice_in_fresh_graphs", r"weights_2 \(not there, then"),
    (models.PlacesVariables, "test_variables_are_placed_by_the_framework", "own_weights on "),
    (models.VariableOfEachClone, "test_clones_share_all_variables", "2 clones .* clone_0/own"),
    (models.VariableOfEvaluation, "test_evaluation_adds_no_variables", "of_evaluation; make"),
    pytest.param(
        models.OtherShapeInEvaluation,
        "test_evaluation_adds_no_variables",
        "table .*in training",
        marks=pytest.mark.slow,
    ),
    (models.NeedsLabelsToPredict, "test_prediction_needs_no_labels", "labels are None"),
    pytest.param(
        models.PredictsNothing,
        "test_prediction_needs_no_labels",
        "no predictions",
        marks=pytest.mark.slow,
    ),
    (models.LossOfEachExample, "test_loss_is_a_finite_scalar", "reduce it to a scalar"),
    pytest.param(
        models.LossIsNotFinite,
        "test_loss_is_a_finite_scalar",
        "the loss of the first step is inf",
        marks=pytest.mark.slow,
    ),
    (models.UnusedVariable, "test_every_trainable_variable_has_a_gradient", "not on unused"),
    (models.UpdateIsNotCollected, "test_update_ops_are_collected", "moving_mean; add"),
    (models.CountsInALocalVariable, "test_restored_run_has_the_same_next_loss", "local variable"),
    (
        models.DrawsWhenItIsBuilt,
        "test_restored_run_has_the_same_next_loss",
        r"build\(\) uses the global random numbers of NumPy",
    ),
    pytest.param(
        models.DrawsByNumPy,
        "test_restored_run_has_the_same_next_loss",
        "random numbers of NumPy",
        marks=pytest.mark.slow,
    ),
    (models.MetricIsNoPair, "test_metrics_can_be_evaluated", "pair of value tensor and update"),
]


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    suite = type("TestLine", (ModelConformance,), {"plugin": Line, "input": Points})
    path = tmp_path_factory.mktemp("golden") / "model.ckpt"
    written = suite.write_golden(str(path))
    suite.teardown_class()
    return written


def test_a_healthy_model_passes(results, golden):
    found = results(MODEL, Line, input=Points, golden=golden)
    assert {each.state for each in found.values()} == {"ok"}, found


@pytest.mark.parametrize(
    ("model", "check", "problem"), FAULTS, ids=lambda value: getattr(value, "__name__", "")
)
def test_only_the_check_of_the_rule_fails(only_failure, model, check, problem):
    found = only_failure(check, MODEL, model, input=Points, skipped=[GOLDEN])
    assert re.search(problem, found, re.DOTALL), found


def test_a_model_with_a_train_op_of_its_own_passes(results):
    found = results(MODEL, LineWithTrainOp, input=Points)
    skipped = {name for name, each in found.items() if each.state == "skipped"}
    assert {each.state for each in found.values()} == {"ok", "skipped"}, found
    # One clone makes it, by gradients that tf-frame does not see.
    clones, gradients = "test_clones_share_all_variables", "every_trainable_variable_has_a_gradient"
    assert skipped == {GOLDEN, clones, f"test_{gradients}"}


@pytest.mark.usefixtures("reference_variables")
def test_the_checks_know_reference_variables(results, only_failure):
    found = results(MODEL, Line, input=Points)
    assert {name for name, each in found.items() if each.state != "ok"} == {GOLDEN}, found
    update = "test_update_ops_are_collected"
    assert only_failure(update, MODEL, models.UpdateIsNotCollected, input=Points, skipped=[GOLDEN])


def test_a_model_that_cannot_be_called_fails_one_check_and_leaves_the_others_out(results):
    found = results(MODEL, models.OtherArguments, input=Points)
    failed = found.pop("test_definition_fits_the_contract")
    assert failed.state == "failed" and "takes (images, labels)" in failed.problem
    of_all = {name for name in vars(Conformance) if name in found}
    assert {found.pop(name).state for name in of_all} == {"ok"}
    reason = "not checked, because definition_fits_the_contract fails"
    assert {each.problem for name, each in found.items() if name != GOLDEN} == {reason}


_SUITE = """
from nonconforming.healthy import Line, Points
from tf_frame.testing.conformance import ModelConformance

class TestLine(ModelConformance):
    plugin = Line
    input = Points
"""


def test_a_relative_golden_checkpoint_is_beside_the_file_of_its_suite(tmp_path, monkeypatch):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/golden_suite.py").write_text(_SUITE)
    monkeypatch.syspath_prepend(tmp_path / "tests")
    suite = importlib.import_module("golden_suite").TestLine
    written = suite.write_golden("golden/line")
    assert written["checkpoint"] == "golden/line"
    assert (tmp_path / "tests/golden/line.index").exists()
    monkeypatch.setattr(suite, "golden", written)
    monkeypatch.chdir(tmp_path)
    getattr(suite(), GOLDEN)()
    suite.teardown_class()


def test_the_place_of_a_golden_checkpoint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    typed = type("TestTyped", (ModelConformance,), {"__module__": "no_such_module"})
    assert locate("golden/line", typed) == str(tmp_path / "golden/line")
    for path in (str(tmp_path / "line"), "gs://golden/line"):
        assert locate(path, ModelConformance) == path


@pytest.mark.parametrize(
    ("golden", "problem"),
    [
        ({"checkpoint": "golden/line"}, "without 'loss'; set it to what write_golden"),
        ({"loss": 1.25}, "without 'checkpoint'; set it"),
        ({}, "without 'checkpoint'; set it"),
        ("golden/line", "golden is 'golden/line', which is no dict; set it"),
        ({"checkpoint": "golden/line", "loss": "1.25"}, "is '1.25', which is no number; set it"),
        ({"checkpoint": None, "loss": 1.25}, "is None, which is no path prefix; set it"),
    ],
)
def test_a_wrong_golden_is_told_in_words(golden, problem):
    suite = type("TestLine", (ModelConformance,), {"plugin": Line, "golden": golden})
    with pytest.raises(AssertionError, match=problem):
        getattr(suite(), GOLDEN)()


@pytest.mark.parametrize(
    ("model", "options", "problem"),
    [
        (models.RunDefaultsWithATypingError, {}, "unknown option max_step; did you mean max_steps"),
        (models.ReadsAnotherFeature, {}, "yields no features['image'], which the model"),
        (Line, {"model.scal": 2}, "unknown option model.scal; did you mean model.scale"),
        (Line, {"input.x": 2}, "unknown option input.x"),
        (Line, {"model": {"scale": -1}}, "-1.0 is out of range"),
    ],
)
def test_options_that_do_not_fit_are_a_failure_and_no_reason_to_skip(
    results, model, options, problem
):
    found = results(MODEL, model, input=Points, options=options)
    (failed,) = [each for each in found.values() if each.state == "failed"]
    assert failed.name == "test_options_have_help_and_usable_defaults"
    assert problem in failed.problem


def test_several_clones_that_are_asked_for_are_checked_as_well(results):
    found = results(MODEL, Line, input=Points, options={"num_clones": 2, "train_batch_size": 4})
    assert found["test_clones_share_all_variables"].state == "ok"


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (models.RenamesAVariable, "does not restore.*kernel"),
        (models.ComputesAnotherLoss, "the loss is"),
    ],
)
def test_a_golden_checkpoint_that_no_longer_fits_is_found(only_failure, golden, model, problem):
    found = only_failure(GOLDEN, MODEL, model, input=Points, golden=golden)
    assert re.search(problem, found, re.DOTALL), found
