import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from tf_frame.errors import ConfigError
from tf_frame_legacy import variables_helper

pytestmark = pytest.mark.usefixtures("graph")
NAMES = [
    "FeatureExtractor/InceptionV3/weights",
    "FeatureExtractor/InceptionV3/biases",
    "StackProposalGenerator/weights",
    "StackProposalGenerator/biases",
]


@pytest.fixture(autouse=True)
def log(caplog):
    caplog.set_level(logging.INFO, "tf_frame")
    return caplog


@pytest.fixture
def variables():
    return [tf.get_variable(name, initializer=float(i + 1)) for i, name in enumerate(NAMES)]


@pytest.fixture
def pairs(variables):
    return [(tf.constant(float(i + 1)), v) for i, v in enumerate(variables)]


def filtered(variables, regexes, **options):
    chosen = variables_helper.filter_variables(variables, regexes, **options)
    return [NAMES.index(variable.op.name) for variable in chosen]


@pytest.mark.parametrize(
    ("regexes", "left", "matching"),
    [
        ([], [0, 1, 2, 3], []),
        ([""], [0, 1, 2, 3], []),
        (["", None, ".*biases"], [0, 2], [1, 3]),
        (["FeatureExtractor/.*"], [2, 3], [0, 1]),
        (["InceptionV3"], [0, 1, 2, 3], []),
        (["FeatureExtractor.*biases", "StackProposalGenerator.*biases"], [0, 2], [1, 3]),
        ([".*"], [], [0, 1, 2, 3]),
    ],
)
def test_names_that_match_from_their_start_are_left_out_or_kept(variables, regexes, left, matching):
    assert filtered(variables, regexes) == left
    assert filtered(variables, regexes, invert=True) == matching


def test_gradients_of_all_biases_are_multiplied_with_zero(pairs, log):
    changed = variables_helper.multiply_gradients_matching_regex(pairs, [".*/biases"], 0.0)
    assert run_initialized(changed) == [(1.0, 1.0), (0.0, 2.0), (3.0, 3.0), (0.0, 4.0)]
    assert log.messages == [
        f"Applying multiplier 0.000000 to variable [{name}]" for name in (NAMES[1], NAMES[3])
    ]


def test_a_variable_that_two_expressions_match_is_multiplied_once(pairs):
    changed = variables_helper.multiply_gradients_matching_regex(
        pairs, [".*bias(?:es)?", ".*/biases"], 2
    )
    assert [gradient for gradient, _ in run_initialized(changed)] == [1.0, 4.0, 3.0, 8.0]


def test_what_matches_nothing_is_left_as_it_is(pairs, log):
    assert variables_helper.multiply_gradients_matching_regex(pairs, [".*/beta"], 0.0) == pairs
    assert variables_helper.freeze_gradients_matching_regex(pairs, ["Other"]) == pairs
    assert log.messages == []


def test_multiplying_a_gradient_that_is_none_is_an_error(variables):
    with pytest.raises(ValueError, match="Requested multiple of `None` gradient"):
        variables_helper.multiply_gradients_matching_regex([(None, variables[0])], [".*"], 2.0)


def test_sparse_gradients_are_multiplied_and_stay_sparse():
    table = tf.get_variable("table", [4, 1])
    sparse = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 2]))
    ((changed, _),) = variables_helper.multiply_gradients_matching_regex(
        [(sparse, table)], ["table"], 3.0
    )
    assert isinstance(changed, tf.IndexedSlices)
    np.testing.assert_array_equal(run_initialized(changed.values), [[3.0], [6.0]])


@pytest.mark.usefixtures("variable_mode")
def test_frozen_variables_are_dropped_with_a_line_of_log(pairs, log):
    kept = variables_helper.freeze_gradients_matching_regex(pairs, ["FeatureExtractor/.*", ""])
    assert kept == pairs[2:]
    assert log.messages == [f"Freezing variable [{name}]" for name in NAMES[:2]]


@pytest.fixture
def checkpoint(tmp_path):
    """Has `weights` [2, 3], `biases` [3], `parts` [4] and `global_step`."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("weights", [2, 3])
        tf.get_variable("biases", [3])
        tf.get_variable("parts", [4], partitioner=tf.fixed_size_partitioner(2))
        tf.train.create_global_step()
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path / "model.ckpt"))


def available(variables, checkpoint, **options):
    return variables_helper.get_variables_available_in_checkpoint(variables, checkpoint, **options)


@pytest.mark.usefixtures("variable_mode")
def test_available_variables_of_a_list_come_as_a_list_ordered_by_name(checkpoint, log):
    weights, biases = tf.get_variable("weights", [2, 3]), tf.get_variable("biases", [3])
    other = tf.get_variable("other", [1])
    assert available([weights, other, biases], checkpoint) == [biases, weights]
    assert log.messages == ["Variable [other] is not available in checkpoint"]


@pytest.mark.usefixtures("variable_mode")
def test_available_variables_of_a_dict_go_by_its_names(checkpoint, log):
    mine, wrong = tf.get_variable("mine", [2, 3]), tf.get_variable("wrong", [2])
    assert available({"weights": mine, "biases": wrong}, checkpoint) == {"weights": mine}
    (message,) = log.messages
    assert "Variable [biases] is available in checkpoint, but has an incompatible" in message
    assert "Checkpoint shape: [[3]], model variable shape: [[2]]" in message


@pytest.mark.parametrize("together", [False, True])
def test_partitioned_variables_go_by_their_full_name(checkpoint, together):
    partitioner = tf.fixed_size_partitioner(2)
    whole = tf.get_variable("parts", [4], partitioner=partitioner)
    wanted = [whole] if together else list(whole)
    found = available(wanted, checkpoint)
    assert len(found) == len(wanted)
    assert all(a is b for a, b in zip(found, wanted, strict=True))


def test_the_global_step_is_left_out_when_asked(checkpoint):
    step = tf.train.create_global_step()
    assert available([step], checkpoint) == [step]
    assert available([step], checkpoint, include_global_step=False) == []


@pytest.mark.parametrize("variables", [None, (), "b"])
def test_variables_that_are_neither_list_nor_dict_are_an_error(checkpoint, variables):
    with pytest.raises(ValueError, match="^`variables` is expected to be a list or dict.$"):
        available(variables, checkpoint)


def test_available_variables_can_be_restored(checkpoint):
    biases = tf.get_variable("biases", [3], initializer=tf.ones_initializer())
    saver = tf.train.Saver(available([biases, tf.get_variable("other", [3])], checkpoint))
    with initialized_session() as session:
        saver.restore(session, checkpoint)
        saved = tf.train.load_variable(checkpoint, "biases")
        np.testing.assert_array_equal(session.run(biases), saved)


def test_a_folder_means_its_newest_checkpoint_and_a_missing_one_is_an_error(checkpoint, tmp_path):
    biases = tf.get_variable("biases", [3])
    assert available([biases], str(tmp_path)) == [biases]
    with pytest.raises(ConfigError, match="there is no checkpoint"):
        available([biases], str(tmp_path / "none"))


def test_global_variables_are_those_of_a_graph(variables):
    assert variables_helper.get_global_variables_safely() == variables


def test_eager_execution_has_no_global_variables(monkeypatch):
    monkeypatch.setattr(tf, "executing_eagerly", lambda: True)
    with pytest.raises(ValueError, match="is not tracked when executing eagerly"):
        variables_helper.get_global_variables_safely()


def test_what_a_training_cannot_begin_with_is_refused(tmp_path):
    tf.get_variable("feature_extractor/weights", initializer=1.0)
    with initialized_session() as session:
        path = tf.train.Saver().save(session, str(tmp_path / "old" / "model.ckpt"))
    check = variables_helper.ensure_checkpoint_supported
    check(path, "classification", str(tmp_path / "new"))
    with pytest.raises(RuntimeError, match="contains variable names with 'feature_extractor'"):
        check(path, "detection", str(tmp_path / "new"))
    with pytest.raises(RuntimeError, match=r"old\) and model_dir \(.*old\) cannot be same"):
        check(path, "classification", f"{tmp_path}/new/../old/")
    with pytest.raises(ConfigError):
        check(str(tmp_path / "gone"), "detection", str(tmp_path))
