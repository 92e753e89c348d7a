import os

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.warm_start.plan import candidate_variables, plan_warm_start
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError
from tf_frame.graph.update.moving_averages import moving_averages
from tf_frame.testing.ports import free_ports

from .conftest import B, W, options, outcomes, restored, variable


@pytest.mark.usefixtures("variable_mode")
def test_variables_of_the_same_name_and_shape_get_the_values_of_the_checkpoint(write):
    path = write("model.ckpt-3", {"net/w": W, "net/b": B})
    variable("net/w", [2, 3]), variable("net/b", [3])
    plan = plan_warm_start(options(path), candidate_variables())
    assert outcomes(plan) == {"net/w": "restored", "net/b": "restored"}
    values = restored(plan)
    np.testing.assert_array_equal(values["net/w"], W)
    np.testing.assert_array_equal(values["net/b"], B)


def test_without_a_checkpoint_there_is_no_plan():
    assert plan_warm_start(WarmStartOptions(), [variable("w", [2])]) is None


@pytest.mark.parametrize("form", ["model.ckpt-3", "model.ckpt-3.index", "", "saved_model"])
def test_a_prefix_an_index_a_folder_and_a_saved_model_may_be_given(save, write, tmp_path, form):
    save(3, w=W)
    (tmp_path / "saved_model/variables").mkdir(parents=True)
    write("saved_model/variables/variables", {"w": W})
    plan = plan_warm_start(options(str(tmp_path / form)), [variable("w", [2, 3])])
    np.testing.assert_array_equal(restored(plan)["w"], W)


@pytest.mark.usefixtures("reference_variables")
def test_a_checkpoint_of_slims_first_models_may_be_given(tmp_path):
    path = str(tmp_path / "inception_v3.ckpt")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", initializer=tf.constant(W))
        session.run(tf.global_variables_initializer())
        tf.train.Saver(write_version=tf.train.SaverDef.V1).save(session, path)
    plan = plan_warm_start(options(path), [variable("w", [2, 3])])
    np.testing.assert_array_equal(restored(plan)["w"], W)


@pytest.mark.usefixtures("variable_mode")
def test_a_partitioned_variable_is_restored_by_its_full_name(write):
    path = write("a", {"old/w": W, "b": B})
    tf.get_variable("new/w", [2, 3], partitioner=tf.fixed_size_partitioner(2))
    variable("b", [3])
    plan = plan_warm_start(options(path, map=("new/w=old/w",)), candidate_variables())
    assert outcomes(plan) == {"new/w": "restored", "b": "restored"}
    values = restored(plan)
    np.testing.assert_array_equal(
        np.concatenate([values["new/w/part_0"], values["new/w/part_1"]]), W
    )


def test_a_partitioned_variable_of_another_whole_shape_is_mismatched(write):
    path = write("a", {"w": W, "b": B})
    tf.get_variable("w", [4, 3], partitioner=tf.fixed_size_partitioner(2))
    with pytest.raises(CheckpointError, match=r"\n  w \[4, 3\], \[2, 3\] in the checkpoint\n"):
        plan_warm_start(options(path), candidate_variables())


def test_a_partitioned_variable_may_be_given_whole(write):
    path = write("a", {"w": W})
    whole = tf.get_variable("w", [2, 3], partitioner=tf.fixed_size_partitioner(2))
    plan = plan_warm_start(options(path), [whole])
    np.testing.assert_array_equal(restored(plan)["w/part_1"], W[1:])


def test_exclude_wins_over_include_and_both_match_beginnings_only(write):
    names = ("net/logits/w", "logits/w", "logits_2/w", "head/w")
    path = write("a", dict.fromkeys(names, W))
    variables = [variable(name, [2, 3]) for name in names]
    plan = plan_warm_start(options(path, include=("net", "logits"), exclude=("logits",)), variables)
    assert outcomes(plan) == {
        "net/logits/w": "restored",
        "logits/w": "excluded",
        "logits_2/w": "excluded",
        "head/w": "not included",
    }
    assert not restored(plan)["head/w"].any()


def test_excluded_variables_may_be_missing_or_of_another_shape(write):
    path = write("a", {"w": W, "logits": np.zeros([21], np.float32)})
    variables = [variable("w", [2, 3]), variable("logits", [2]), variable("aux", [1])]
    plan = plan_warm_start(options(path, exclude=("logits", "aux")), variables)
    assert outcomes(plan) == {"w": "restored", "logits": "excluded", "aux": "excluded"}


def test_a_map_gives_the_name_in_the_checkpoint(write):
    path = write("a", {"FeatureExtractor/MobilenetV2/w": W, "b": B})
    variables = [variable("MobilenetV2/w", [2, 3]), variable("b", [3])]
    rule = r"MobilenetV2/(.*)=FeatureExtractor/MobilenetV2/\1"
    plan = plan_warm_start(options(path, map=(rule,)), variables)
    assert [(row.name, row.source) for row in plan.rows] == [
        ("MobilenetV2/w", "FeatureExtractor/MobilenetV2/w"),
        ("b", "b"),
    ]
    np.testing.assert_array_equal(restored(plan)["MobilenetV2/w"], W)


def test_averages_in_the_checkpoint_can_be_mapped_to_the_variables(write):
    averaged = {"a/weights/ExponentialMovingAverage": W + 1, "a/weights": W, "a/moving_mean": B}
    path = write("a", averaged)
    variables = [variable("a/weights", [2, 3]), variable("a/moving_mean", [3])]
    rule = r"(.*/(?:weights|biases))=\1/ExponentialMovingAverage"
    values = restored(plan_warm_start(options(path, map=(rule,)), variables))
    np.testing.assert_array_equal(values["a/weights"], W + 1)
    np.testing.assert_array_equal(values["a/moving_mean"], B)


def test_several_variables_may_take_the_same_values(write):
    path = write("a", {"tower/w": W})
    variables = [variable(f"tower_{i}/w", [2, 3]) for i in range(3)]
    plan = plan_warm_start(options(path, map=(r"tower_\d/(.*)=tower/\1",)), variables)
    values = restored(plan)
    for i in range(3):
        np.testing.assert_array_equal(values[f"tower_{i}/w"], W)


@pytest.mark.parametrize("among", [True, False])
def test_the_global_step_is_never_taken_unless_asked_for(write, among):
    path = write("a", {"w": W, "global_step": np.int64(90)})
    step = tf.train.create_global_step()
    variables = [variable("w", [2, 3])] + ([step] if among else [])
    plan = plan_warm_start(options(path), variables)
    assert outcomes(plan) == {"w": "restored"}
    assert restored(plan)["global_step"] == 0
    asked = options(path, global_step=True, include=("w",), map=(r"(.*)=\1",))
    assert restored(plan_warm_start(asked, variables))["global_step"] == 90


def test_candidates_are_no_slots_and_averages_and_in_the_order_of_their_creation():
    step = tf.train.create_global_step()
    w = variable("w", [2])
    collections = [tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES]
    for name, trainable in (("c", True), ("b", False), ("a", True)):
        tf.get_variable(name, [1], trainable=trainable, collections=collections)
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(w), step)
    tf.train.ExponentialMovingAverage(0.9).apply([w])
    assert len(tf.global_variables()) == 7
    assert [v.op.name for v in candidate_variables()] == ["w", "c", "b", "a"]


@pytest.mark.usefixtures("variable_mode")
def test_moving_averages_begin_at_the_values_restored(write):
    path = write("a", {"w": W, "v": B})
    w = variable("w", [2, 3])
    tf.get_variable("v", [3], partitioner=tf.fixed_size_partitioner(3))
    config = RunOptions(moving_average_decay=0.9999, moving_average_num_updates=False)
    moving_averages(config, tf.train.create_global_step()).apply()
    values = restored(plan_warm_start(options(path), candidate_variables()))
    np.testing.assert_array_equal(values["w/ExponentialMovingAverage"], W)
    assert [values[f"v/part_{i}/ExponentialMovingAverage"] for i in range(3)] == list(B)
    excluded = options(path, exclude=("w",))
    assert not restored(plan_warm_start(excluded, [w, *tf.trainable_variables()]))[
        "w/ExponentialMovingAverage"
    ].any()


def test_ops_that_follow_see_the_values_restored(write):
    path = write("a", {"w": W})
    w, shadow = variable("w", [2, 3]), variable("shadow", [2, 3])
    plan = plan_warm_start(options(path), [w], then=[shadow.assign(w)])
    np.testing.assert_array_equal(restored(plan)["shadow"], W)


def test_the_graph_gets_restoring_ops_for_what_is_restored_and_no_values(write, graph):
    path = write("a", {"big": np.zeros([100_000], np.float32), "w": W})
    variables = [variable("w", [2, 3]), variable("big", [100_000])]
    before = graph.as_graph_def().ByteSize()
    plan = plan_warm_start(options(path, exclude=("big",)), variables)
    (restore,) = [op for op in graph.get_operations() if op.type == "RestoreV2"]
    assert len(restore.outputs) == 1
    assert graph.as_graph_def().ByteSize() - before < 10_000
    assert plan.savers[0].saver_def.restore_op_name.startswith("warm_start")


def test_the_table_has_a_row_for_each_variable_and_a_summary(write):
    path = write("a", {"net/w": W, "b": B, "logits": np.zeros([21], np.float32)})
    shapes = {"w": [2, 3], "b": [3], "logits": [2], "new": []}
    variables = [variable(name, shape) for name, shape in shapes.items()]
    given = {"map": ("w=net/w",), "exclude": ("b",), "ignore_missing": True}
    plan = plan_warm_start(options(path, skip_mismatched=True, **given), variables)
    assert plan.table().splitlines() == [
        "OUTCOME     VARIABLE  SHAPE                        IN THE CHECKPOINT",
        "restored    w         [2, 3]                       net/w",
        "excluded    b         [3]",
        "mismatched  logits    [2], [21] in the checkpoint  logits",
        "missing     new       []                           new",
        plan.summary(),
    ]


def test_the_summary_counts_what_the_checkpoint_has_left(write):
    path = write(
        "a", {"w": W, "w/Momentum": W, "b": B, "b/Momentum": B, "global_step": np.int64(5)}
    )
    plan = plan_warm_start(
        options(path, exclude=("b",)), [variable("w", [2, 3]), variable("b", [3])]
    )
    assert plan.summary() == (
        f"warm start from {path}: 1 of 2 variables restored (1 excluded); 4 in the checkpoint "
        "not used: 2 Momentum, 1 b, 1 global_step"
    )


@pytest.mark.usefixtures("variable_mode")
def test_a_session_calls_it_only_where_no_checkpoint_was_restored(write, tmp_path):
    path = write("pretrained", {"w": W})
    w = variable("w", [2, 3])
    step = tf.train.create_global_step()
    with tf.control_dependencies([step.assign_add(1)]):
        add_one = tf.identity(w.assign_add(tf.ones([2, 3])))
    plan = plan_warm_start(options(path), [w])
    own = str(tmp_path / "own")
    os.mkdir(own)
    scaffold = tf.train.Scaffold(init_fn=plan.init_fn)

    def session():
        creator = tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=own)
        return tf.train.MonitoredSession(creator)

    with session() as first:
        np.testing.assert_array_equal(first.run(w), W)
        first.run(add_one)
        first.run_step_fn(
            lambda step_context: scaffold.saver.save(step_context.session, f"{own}/model.ckpt")
        )
    with session() as second:
        np.testing.assert_array_equal(second.run(w), W + 1)


@pytest.fixture(scope="module")
def target():
    """A worker and two parameter servers in this process."""
    worker, *servers = (f"127.0.0.1:{port}" for port in free_ports(3))
    cluster = {"worker": [worker], "ps": servers}
    started = [
        tf.train.Server(cluster, job_name=job, task_index=task)
        for job, task in (("ps", 0), ("ps", 1), ("worker", 0))
    ]
    return started[-1].target


@pytest.mark.process
@pytest.mark.usefixtures("variable_mode")
def test_variables_on_parameter_servers_are_restored_where_they_are(write, target):
    values = {f"v{i}": np.full([3], i + 1, np.float32) for i in range(3)}
    path = write("a", values)
    setter = tf.train.replica_device_setter(ps_tasks=2)
    with tf.Graph().as_default(), tf.device(setter):
        variables = [tf.get_variable(name, [3]) for name in values]
        assert {v.device for v in variables} == {"/job:ps/task:0", "/job:ps/task:1"}
        plan = plan_warm_start(options(path), candidate_variables())
        scaffold = tf.train.Scaffold(init_fn=plan.init_fn)
        creator = tf.train.ChiefSessionCreator(scaffold, master=target)
        with tf.train.MonitoredSession(creator) as session:
            for variable in variables:
                np.testing.assert_array_equal(session.run(variable), values[variable.op.name])
