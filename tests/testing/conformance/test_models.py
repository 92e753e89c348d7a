"""Each check of models finds its fault, and no other check fails on it."""

import importlib
import re

import pytest

from nonconforming import models
from nonconforming.healthy import Line, LineWithTrainOp, Points
from slow_cases import slow, slow_but
from tf_frame.plugin.kinds import MODEL
from tf_frame.testing.conformance import ModelConformance
from tf_frame.testing.conformance.golden import locate
from tf_frame.testing.conformance.suite import Conformance

GOLDEN = "test_golden_checkpoint_restores"
OPTIONS = "test_options_have_help_and_usable_defaults"
BATCHES = "test_evaluation_does_not_depend_on_the_batch_size"
RESTORED = "test_restored_run_has_the_same_next_loss"
# A second fault that the same check finds is in the slow suite.
FAULTS = [
    (models.PresetsAreAList, "test_definition_fits_the_contract", r"presets is \['large'\]"),
    slow(
        models.OptionWithoutHelp, "test_options_have_help_and_usable_defaults", "depth have no help"
    ),
    slow(models.KeepsVariables, "test_builds_twice_in_fresh_graphs", "keep no tensors on it"),
    (
        models.SafeByWordOnly,
        "test_builds_twice_in_fresh_graphs",
        "changes the attribute built, but",
    ),
    (models.CountsItsGraphs, "test_builds_twice_in_fresh_graphs", r"weights_2 \(not there, then"),
    (models.PlacesVariables, "test_variables_are_placed_by_the_framework", "own_weights on "),
    (models.VariableOfEachClone, "test_clones_share_all_variables", "2 clones .* clone_0/own"),
    (models.VariableOfEvaluation, "test_evaluation_adds_no_variables", "of_evaluation; make"),
    slow(models.OtherShapeInEvaluation, "test_evaluation_adds_no_variables", "table .*in training"),
    (models.NeedsLabelsToPredict, "test_prediction_needs_no_labels", "labels are None"),
    slow(models.PredictsNothing, "test_prediction_needs_no_labels", "no predictions"),
    (models.LossOfEachExample, "test_loss_is_a_finite_scalar", "reduce it to a scalar"),
    slow(models.LossIsNotFinite, "test_loss_is_a_finite_scalar", "loss of the first step is inf"),
    (models.UnusedVariable, "test_every_trainable_variable_has_a_gradient", "not on unused"),
    (models.UpdateIsNotCollected, "test_update_ops_are_collected", "moving_mean; add"),
    (models.CountsInALocalVariable, RESTORED, "local variable"),
    (models.DrawsWhenItIsBuilt, RESTORED, r"build\(\) uses the global random numbers of NumPy"),
    slow(models.DrawsByNumPy, RESTORED, "random numbers of NumPy"),
    (models.MetricIsNoPair, "test_metrics_can_be_evaluated", "pair of value tensor and update"),
    (models.MetricOfBatches, BATCHES, r"error of the same 4 examples is .* batches of 1 and 3"),
    (models.LossOverPositiveErrors, BATCHES, r"loss of the same 4 examples .*loss_terms"),
]


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    suite = type("TestLine", (ModelConformance,), {"plugin": Line, "input": Points})
    path = tmp_path_factory.mktemp("golden") / "model.ckpt"
    written = suite.write_golden(str(path))
    suite.teardown_class()
    return written


def test_a_healthy_model_passes(passes, golden):
    passes(MODEL, Line, input=Points, golden=golden)


@pytest.mark.parametrize(
    ("model", "check", "problem"),
    slow_but((0, 3, 7, 10, -1), FAULTS, several=True),
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_only_the_check_of_the_rule_fails(fails_only, model, check, problem):
    fails_only(check, problem, MODEL, model, input=Points, skipped=[GOLDEN])


@pytest.mark.slow
def test_a_model_with_a_train_op_of_its_own_passes(passes):
    # One clone makes it, by gradients that tf-frame does not see.
    skipped = "test_clones_share_all_variables", "test_every_trainable_variable_has_a_gradient"
    passes(MODEL, LineWithTrainOp, input=Points, skipped=[GOLDEN, *skipped])


@pytest.mark.slow
@pytest.mark.usefixtures("reference_variables")
def test_the_checks_know_reference_variables(passes, fails_only):
    options = {"input": Points, "skipped": [GOLDEN]}
    passes(MODEL, Line, **options)
    update = "test_update_ops_are_collected"
    fails_only(update, ".", MODEL, models.UpdateIsNotCollected, **options)


def test_a_model_that_cannot_be_called_fails_one_check_and_leaves_the_others_out(results):
    checks = results(MODEL, models.OtherArguments, input=Points)
    failed = checks.pop("test_definition_fits_the_contract")
    assert failed.state == "failed" and "takes (images, labels)" in failed.problem
    general = {name for name in vars(Conformance) if name in checks}
    assert {checks.pop(name).state for name in general} == {"ok"}
    reason = "not checked, because definition_fits_the_contract fails"
    assert {check.problem for name, check in checks.items() if name != GOLDEN} == {reason}


_SUITE = """
from nonconforming.healthy import Line, Points
from tf_frame.testing.conformance import ModelConformance

class TestLine(ModelConformance):
    plugin = Line
    input = Points
"""


def test_a_relative_golden_checkpoint_is_next_to_the_file_of_its_suite(tmp_path, monkeypatch):
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
    fails_one, model, options, problem
):
    fails_one(OPTIONS, re.escape(problem), MODEL, model, input=Points, options=options)


@pytest.mark.slow
def test_several_clones_that_are_asked_for_are_checked_as_well(results):
    options = {"num_clones": 2, "train_batch_size": 4}
    checks = results(MODEL, Line, input=Points, options=options)
    assert checks["test_clones_share_all_variables"].state == "ok"


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (models.RenamesAVariable, "does not restore.*kernel"),
        (models.ComputesAnotherLoss, "the loss is"),
    ],
)
def test_a_golden_checkpoint_that_no_longer_fits_is_found(fails_only, golden, model, problem):
    fails_only(GOLDEN, problem, MODEL, model, input=Points, golden=golden)
