"""`check_plugin`, and every plugin of tf-frame itself."""

import dataclasses

import pytest

from nonconforming.parts import Constant, ConstantThatIsInterrupted
from tf_frame.errors import ConfigError
from tf_frame.plugin.find import PluginInfo, find_plugins
from tf_frame.plugin.kinds import KINDS, LEARNING_RATE
from tf_frame.plugin.load import load_plugin_info
from tf_frame.plugin.packages import OWN_DISTRIBUTION
from tf_frame.testing.conformance.check import (
    FAILED,
    SKIPPED,
    SUITES,
    CheckResult,
    check_names,
    check_plugin,
    make_suite,
    run_suite,
)
from tf_frame.testing.conformance.side_effects import examine
from tf_frame.testing.conformance.suite import load_class

OWN = [info for info in find_plugins() if info.distribution == OWN_DISTRIBUTION]
# Others like them are in the default suite.
SLOW = {
    *("adadelta", "adagrad", "adamw", "ftrl", "lamb", "rmsprop"),
    *("centralize", "clip_by_norm", "clip_by_value", "scale_biases"),
    *("csv", "feed", "multiply", "noise", "freeze", "momentum", "multi_steps"),
    *("early_stopping", "final_values", "heartbeat", "logging_tensor", "resource_use"),
    *(
        "accumulate",
        "adam",
        "check_finite",
        "clip_by_global_norm",
        "garbage_collection",
        "slow_step",
    ),
}
# They need a package that is not installed, or the data of other inputs.
SKIPPING = ("mlflow", "wandb", "several")


def test_every_kind_has_a_suite():
    assert set(SUITES) == set(KINDS)


def test_every_check_has_a_description_of_its_own():
    for suite in SUITES.values():
        descriptions = [getattr(suite, name).__doc__ for name in check_names(suite)]
        assert all(descriptions) and len(set(descriptions)) == len(descriptions)


def test_options_are_given_with_the_prefix_of_their_kind():
    loaded = load_class(LEARNING_RATE, Constant)
    with pytest.raises(ConfigError, match=r"unknown option evry"):
        make_suite(loaded, {"schedule.evry": 3}).configured()


def test_a_plugin_that_cannot_be_loaded_fails_one_check():
    info = dataclasses.replace(OWN[0], target="tf_frame.missing:Nothing")
    results = check_plugin(info, {})
    assert {type(result) for result in results} == {CheckResult}
    (failure,) = [result for result in results if result.state == FAILED]
    assert failure.name == "test_loads_without_side_effects"
    assert "No module named 'tf_frame.missing'" in failure.problem
    assert {result.problem for result in results if result.state == SKIPPED} == {
        "not checked, because loads_without_side_effects fails"
    }
    assert len(results) == len(list(check_names(SUITES[info.kind])))


@pytest.mark.parametrize(
    ("plugin", "check", "problem"),
    [
        ("Number", "test_definition_fits_the_contract", "expected a class, found 3"),
        ("ConstantOfTwoSteps", "test_definition_fits_the_contract", "is called with (step)"),
        ("ConstantOfVersion9", "test_definition_fits_the_contract", "version 9 of the plugin"),
        (
            "ConstantWithoutDefault",
            "test_options_have_help_and_usable_defaults",
            "option 'depth' has no default",
        ),
    ],
)
def test_an_installed_plugin_that_is_refused_fails_the_check_of_the_rule(plugin, check, problem):
    info = PluginInfo(LEARNING_RATE, "mine", f"nonconforming.parts:{plugin}", "tests", "0")
    results = check_plugin(info, {})
    (failure,) = [result for result in results if result.state == FAILED]
    assert failure.name == check and problem in failure.problem
    reason = f"not checked, because {check.removeprefix('test_')} fails"
    assert {result.problem for result in results if result.state == SKIPPED} <= {reason}


def test_ctrl_c_names_the_check(capsys):
    loaded = load_class(LEARNING_RATE, ConstantThatIsInterrupted)
    with pytest.raises(KeyboardInterrupt):
        run_suite(make_suite(loaded, {}))
    assert capsys.readouterr().err == (
        "tf-frame: interrupted in the check builds_twice_in_fresh_graphs of the learning rate "
        "'constantthatisinterrupted' of tests 0\n"
    )


@pytest.fixture(scope="module")
def examined():
    examine([load_plugin_info(info).cls for info in OWN])


@pytest.mark.parametrize(
    "info",
    [
        pytest.param(
            info,
            id=f"{info.kind.word} {info.name}",
            marks=[pytest.mark.slow] if info.name in SLOW else [],
        )
        for info in OWN
    ],
)
def test_our_own_plugins_pass(examined, info):
    results = check_plugin(info, {})
    assert not [result for result in results if result.state == FAILED]
    assert not [result for result in results if result.state == SKIPPED] or info.name in SKIPPING
