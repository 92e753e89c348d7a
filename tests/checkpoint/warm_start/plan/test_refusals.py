import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.warm_start.plan import plan_warm_start
from tf_frame.errors import CheckpointError, ConfigError, UnmatchedPatternWarning

from .conftest import B, W, options, outcomes, restored, variable


@pytest.mark.parametrize(
    ("given", "warning"),
    [
        (
            {"include": ("nett/", "net/")},
            "none of the 1 variables begins with --warm_start_include",
        ),
        ({"exclude": ("logits",)}, "none of the 1 variables begins with --warm_start_exclude"),
        ({"map": ("nat/w=x",)}, "--warm_start_map 'nat/w=x' matches the whole name of none"),
        ({"map": ("nat/w=x",)}, "did you mean 'net/w'"),
    ],
)
def test_a_pattern_that_matches_nothing_gives_a_warning(write, given, warning):
    path = write("a", {"net/w": W})
    with pytest.warns(UnmatchedPatternWarning, match=warning):
        plan_warm_start(options(path, **given), [variable("net/w", [2, 3])])


def test_missing_variables_are_listed_with_near_names(write):
    path = write("a", {"net/conv/weights": W, "x": B})
    variables = [variable("net/conv1/weights", [2, 3]), variable("x", [3]), variable("q", [1])]
    with pytest.raises(CheckpointError) as error:
        plan_warm_start(options(path, map=("q=zzz",)), variables)
    message = str(error.value)
    assert message.startswith(f"--warm_start_from {path} does not fit the graph\n2 variables are")
    assert "\n  net/conv1/weights [2, 3]: net/conv/weights?\n" in message
    assert "\n  q [1] (looked for as zzz)\n" in message
    assert "--warm_start_ignore_missing" in message


def test_a_long_list_of_missing_variables_is_cut(write):
    path = write("a", {"w": W})
    variables = [variable(f"v{number:02}", [1]) for number in range(11)]
    with pytest.raises(CheckpointError) as error:
        plan_warm_start(options(path), variables)
    assert str(error.value).count("\n  v") == 8
    assert "\n  and 3 more\n" in str(error.value)


def test_mismatched_variables_are_listed_with_both_shapes_and_types(write):
    path = write("a", {"logits": np.zeros([21], np.float32), "w": W.astype(np.float64)})
    with pytest.raises(CheckpointError) as error:
        plan_warm_start(options(path), [variable("logits", [2]), variable("w", [2, 3])])
    assert "\n  logits [2], [21] in the checkpoint\n" in str(error.value)
    assert "\n  w [2, 3], [2, 3] float64 in the checkpoint\n" in str(error.value)
    assert "--warm_start_skip_mismatched" in str(error.value)


@pytest.mark.parametrize(
    ("option", "name", "shape", "outcome"),
    [("ignore_missing", "new", [2], "missing"), ("skip_mismatched", "logits", [2], "mismatched")],
)
def test_other_variables_can_be_passed_over(write, option, name, shape, outcome):
    path = write("a", {"logits": np.zeros([21], np.float32), "w": W})
    variables = [variable("w", [2, 3]), variable(name, shape)]
    plan = plan_warm_start(options(path, **{option: True}), variables)
    assert outcomes(plan) == {"w": "restored", name: outcome}
    np.testing.assert_array_equal(restored(plan)["w"], W)


def test_restoring_nothing_is_an_error_unless_it_is_allowed(write):
    path = write("a", {"w": W})
    variables = [variable("v", [2])]
    with pytest.raises(CheckpointError) as error:
        plan_warm_start(options(path, ignore_missing=True), variables)
    assert "none of the 1 variables was restored; the graph has v, the checkpoint w" in str(
        error.value
    )
    plan = plan_warm_start(options(path, ignore_missing=True), variables, allow_nothing=True)
    assert not plan.savers
    assert not restored(plan)["v"].any()


def test_no_such_checkpoint_and_a_malformed_map_are_errors(save, tmp_path):
    (path,) = save(30)
    variables = [variable("w", [2])]
    message = "--warm_start_from: there is no .*did you mean .*ckpt-30"
    with pytest.raises(ConfigError, match=message):
        plan_warm_start(options(str(tmp_path / "model.ckpt-3")), variables)
    with pytest.raises(ConfigError, match="^--warm_start_map 'w': expected REGEX=REPLACEMENT"):
        plan_warm_start(options(path, map=("w",)), variables)


def test_a_damaged_index_is_an_error_while_planning_and_damaged_data_while_restoring(
    write, corrupt
):
    path = write("a", {"w": W})
    message = f"^the checkpoint {path} cannot be read"
    corrupt(path)
    plan = plan_warm_start(options(path), [variable("w", [2, 3])])
    with pytest.raises(CheckpointError, match=message):
        restored(plan)
    corrupt(path, ".index")
    with pytest.raises(CheckpointError, match=message):
        plan_warm_start(options(path), [variable("v", [2, 3])])


def test_a_lost_parameter_server_is_no_damage(write):
    class LosingSaver:
        def restore(self, session, path):
            raise tf.errors.UnavailableError(None, None, "gone")

    plan = plan_warm_start(options(write("a", {"w": W})), [variable("w", [2, 3])])
    object.__setattr__(plan, "savers", [LosingSaver()])
    with pytest.raises(tf.errors.UnavailableError):
        restored(plan)
