import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame import layers
from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.graph.losses import gather_losses
from tf_frame.graph.summaries import merge_summaries, variable_histograms
from tf_frame.plugin import ModelOutput

TOTALS = {"losses/loss": 3.0, "optimizer/learning_rate": 0.5}


def summarising():
    tf.summary.scalar("mine", tf.constant(7.0))
    return ModelOutput(loss=tf.constant(3.0))


def build(num_clones, *, extra=lambda: (), outer="", clone_on_cpu=True, **options):
    """The merged summary of clones that each write `mine`, and an input that writes `read`."""
    config = DeploymentConfig(num_clones=num_clones, clone_on_cpu=clone_on_cpu)
    with tf.name_scope(outer):
        with tf.name_scope("input"):
            tf.summary.scalar("read", tf.constant(1.0))
        clones = create_clones(config, summarising)
    losses = gather_losses(clones)
    return merge_summaries(clones[0].scope, losses, tf.constant(0.5), extra=extra(), **options)


def written(*args, **kwargs):
    with tf.Graph().as_default():
        summary = tf.Summary.FromString(run_initialized(build(*args, **kwargs)))
    tags = [value.tag for value in summary.value]
    assert len(set(tags)) == len(tags)
    return {value.tag: value.simple_value for value in summary.value}


def test_scopes_of_clones():
    assert written(1) == {"mine": 7.0, "input/read": 1.0, **TOTALS}
    expected = {"outer/clone_0/mine": 7.0, "outer/input/read": 1.0, **TOTALS}
    assert written(2, outer="outer") == expected


@pytest.mark.parametrize("num_clones", [2, 11, 12])
def test_only_the_first_clone_is_written_and_what_belongs_to_no_clone(num_clones):
    assert written(num_clones) == {"clone_0/mine": 7.0, "input/read": 1.0, **TOTALS}


def test_extra_summaries_and_summaries_of_a_worker():
    def extra():
        return [
            tf.summary.scalar("collected", tf.constant(4.0)),
            tf.summary.scalar("own", tf.constant(5.0), collections=[]),
        ]

    expected = {"clone_0/mine": 7.0, "input/read": 1.0, "collected": 4.0, "own": 5.0, **TOTALS}
    assert written(2, extra=extra) == expected
    config = DeploymentConfig(num_ps_tasks=1, worker_job_name="worker/task:3")
    with tf.Graph().as_default():
        clones = create_clones(config, summarising)
        merged = merge_summaries(clones[0].scope, gather_losses(clones), tf.constant(0.5))
    assert "/job:worker/task:3/device:CPU:0" in {s.device for s in merged.op.inputs}


def test_regularisation_is_written_where_there_is_some():
    with tf.Graph().as_default():
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(0.25))
        summary = tf.Summary.FromString(run_initialized(build(2)))
    values = {value.tag: value.simple_value for value in summary.value}
    assert values["losses/regularization_loss"] == 0.25
    assert values["losses/total_loss"] == 3.25


@pytest.mark.parametrize("num_clones", [1, 2])
def test_everything_that_is_merged_is_on_cpu_0_though_clones_are_on_gpus(num_clones):
    with tf.Graph().as_default() as graph:
        merged = build(num_clones, clone_on_cpu=False)
        (mine, *_) = [op for op in graph.get_operations() if op.name.endswith("mine")]
    assert mine.device == "/device:GPU:0"
    assert {summary.device for summary in merged.op.inputs} == {"/device:CPU:0"}
    assert merged.device == "/device:CPU:0"


@pytest.mark.usefixtures("variable_mode")
def test_model_variables_are_written_once_though_they_are_trained_too():
    with tf.Graph().as_default():
        layers.model_variable("both", [2], initializer=tf.ones_initializer())
        tf.get_variable("trained", initializer=tf.constant(3.0))
        zeros = tf.zeros_initializer()
        layers.model_variable("statistics", [1], initializer=zeros, trainable=False)
        tf.get_variable("neither", initializer=tf.constant(1.0), trainable=False)
        layers.model_variable("count", [1], dtype=tf.int32, initializer=zeros, trainable=False)
        summaries = variable_histograms()
        assert tf.get_collection(tf.GraphKeys.SUMMARIES) == []
        values = [tf.Summary.FromString(text).value[0] for text in run_initialized(summaries)]
    sums = {"variables/both": 2.0, "variables/statistics": 0.0, "variables/trained": 3.0}
    assert {value.tag: value.histo.sum for value in values} == sums
    assert len(values) == len(sums)
