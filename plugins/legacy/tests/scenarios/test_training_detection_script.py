"""The Object Detection API's trainer with tf.contrib.training, as it was written, other imports.

It restores a part of a model by a scaffold, has hooks of its own and clips through
tf.contrib.training.
"""

import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import model_deploy, training, variables_helper

pytestmark = [
    pytest.mark.usefixtures("variable_mode", "control_flow_of_v1"),
    pytest.mark.timeout(120),
]


class NoteSteps(tf.train.SessionRunHook):
    """Stands in for a hook of the program's own, such as a profiler at a step."""

    def __init__(self, at_step):
        self._at_step, self.seen = at_step, []

    def begin(self):
        self._step = tf.train.get_global_step()

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        step = int(run_context.session.run(self._step))
        if step == self._at_step:
            self.seen.append(step)


def create_losses(linear, input_queue_list):
    """A classifier of objects on top of a feature extractor, here both linear."""
    batches = [queue.dequeue() for queue in input_queue_list]
    features, targets = (tf.concat(parts, axis=0) for parts in zip(*batches, strict=True))
    with tf.variable_scope("FeatureExtractor/Convnet"):
        weights = tf.get_variable(
            "weights", [3, 2], initializer=tf.random_normal_initializer(stddev=0.5, seed=1)
        )
        features = tf.matmul(features, weights)
    with tf.variable_scope("Predictor"):
        weights = tf.get_variable(
            "weights", [2, 1], initializer=tf.random_normal_initializer(stddev=0.5, seed=2)
        )
        biases = tf.get_variable("biases", [1], initializer=tf.zeros_initializer())
        tf.losses.mean_squared_error(targets, tf.matmul(features, weights) + biases)


def train(
    create_input_queues,
    create_losses,
    train_config,
    master,
    task,
    num_clones,
    worker_replicas,
    clone_on_cpu,
    ps_tasks,
    worker_job_name,
    is_chief,
    train_dir,
    save_checkpoint_secs=600,
    save_summaries_steps=100,
):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        deploy_config = model_deploy.DeploymentConfig(
            num_clones=num_clones,
            clone_on_cpu=clone_on_cpu,
            replica_id=task,
            num_replicas=worker_replicas,
            num_ps_tasks=ps_tasks,
            worker_job_name=worker_job_name,
        )
        with tf.device(deploy_config.variables_device()):
            global_step = tf.train.create_global_step()
        with tf.device(deploy_config.inputs_device()), tf.name_scope("Input"):
            input_queue_list = create_input_queues(num_clones)

        summaries = set(tf.get_collection(tf.GraphKeys.SUMMARIES))
        clones = model_deploy.create_clones(deploy_config, create_losses, [input_queue_list])
        first_clone_scope = clones[0].scope
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, first_clone_scope)
        with tf.device(deploy_config.optimizer_device()), tf.name_scope("Optimizer"):
            training_optimizer = tf.train.AdamOptimizer(train_config.lr)

        load_pretrain = None
        if train_config.fine_tune_checkpoint:
            variables = [
                v
                for v in tf.trainable_variables()
                if v.op.name.split("/")[:2] == ["FeatureExtractor", "Convnet"]
            ]
            init_saver = tf.train.Saver(variables)

            def load_pretrain(scaffold, sess):
                init_saver.restore(sess, train_config.fine_tune_checkpoint)

        with tf.device(deploy_config.optimizer_device()), tf.variable_scope("OptimizeClones"):
            total_loss, grads_and_vars = model_deploy.optimize_clones(
                clones, training_optimizer, regularization_losses=None
            )
            total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan.")
            if train_config.bias_grad_multiplier:
                grads_and_vars = variables_helper.multiply_gradients_matching_regex(
                    grads_and_vars,
                    [r".*bias(?:es)?", r".*beta"],
                    multiplier=train_config.bias_grad_multiplier,
                )
            if train_config.freeze_variables:
                grads_and_vars = variables_helper.freeze_gradients_matching_regex(
                    grads_and_vars, train_config.freeze_variables
                )
            if train_config.gradient_clipping_by_norm > 0:
                with tf.name_scope("clip_grads"):
                    grads_and_vars = training.clip_gradient_norms(
                        grads_and_vars, train_config.gradient_clipping_by_norm
                    )
            grad_updates = training_optimizer.apply_gradients(
                grads_and_vars, global_step=global_step
            )
            update_ops.append(grad_updates)
            update_op = tf.group(*update_ops)
            with tf.control_dependencies([update_op]):
                train_tensor = tf.identity(total_loss, name="train_op")

        for grad, var in grads_and_vars:
            summaries.add(tf.summary.histogram("grad/" + var.op.name, grad))
            summaries.add(tf.summary.histogram(var.op.name, var))
        for loss_tensor in tf.losses.get_losses():
            summaries.add(tf.summary.scalar(loss_tensor.op.name, loss_tensor))
        summaries.add(tf.summary.scalar("TotalLoss", tf.losses.get_total_loss()))
        summaries |= set(tf.get_collection(tf.GraphKeys.SUMMARIES, first_clone_scope))
        summary_op = tf.summary.merge(list(summaries), name="summary_op")

        session_config = tf.ConfigProto(allow_soft_placement=True, log_device_placement=False)
        saver = tf.train.Saver(
            keep_checkpoint_every_n_hours=train_config.keep_checkpoint_every_n_hours
        )
        scaffold = tf.train.Scaffold(init_fn=load_pretrain, summary_op=summary_op, saver=saver)
        stop_hook = tf.train.StopAtStepHook(
            num_steps=(train_config.num_steps if train_config.num_steps else None)
        )
        profile_hook = NoteSteps(at_step=200)
        loss = training.train(
            train_tensor,
            train_dir,
            master=master,
            is_chief=is_chief,
            scaffold=scaffold,
            hooks=[stop_hook, profile_hook],
            chief_only_hooks=None,
            save_checkpoint_secs=save_checkpoint_secs,
            save_summaries_steps=save_summaries_steps,
            config=session_config,
        )
        return loss, profile_hook.seen


CONFIG = types.SimpleNamespace(
    lr=0.1,
    fine_tune_checkpoint="",
    bias_grad_multiplier=2.0,
    freeze_variables=[],
    gradient_clipping_by_norm=10.0,
    keep_checkpoint_every_n_hours=1000,
    num_steps=250,
)


@pytest.fixture
def run(linear, tmp_path):
    def run(folder, num_clones=1, **changes):
        loss = train(
            lambda clones: [
                linear.queue(range(6), 6 // clones),
                linear.queue([6, 7], 2 // clones),
            ],
            lambda queues: create_losses(linear, queues),
            types.SimpleNamespace(**{**vars(CONFIG), **changes}),
            "",
            0,
            num_clones,
            1,
            True,
            0,
            "lonely_worker",
            True,
            str(tmp_path / folder),
        )
        tf.summary.FileWriterCache.clear()
        return loss

    return run


def scalars(folder, tag):
    return [
        (event.step, value.simple_value)
        for path in sorted(folder.glob("events.*"))
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
        if value.tag == tag
    ]


@pytest.mark.parametrize("num_clones", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_the_script_learns_and_writes(run, tmp_path, num_clones):
    loss, seen = run("run", num_clones)
    folder = tmp_path / "run"
    assert loss < 0.05
    assert seen == [200]
    names = {path.name for path in folder.iterdir() if "tfevents" not in path.name}
    assert names == {
        "checkpoint",
        "graph.pbtxt",
        *[f"model.ckpt-{s}.{e}" for s in (0, 250) for e in ("index", "meta")],
        *[f"model.ckpt-{s}.data-00000-of-00001" for s in (0, 250)],
    }
    totals = scalars(folder, "TotalLoss")
    assert [step for step, _ in totals] == [1, 101, 201]
    assert totals[-1][1] < totals[0][1] / 50
    assert [step for step, _ in scalars(folder, "global_step/sec")] == [101, 201]


@pytest.mark.slow
def test_the_script_goes_on_for_so_many_steps_more(run, tmp_path):
    """num_steps of a StopAtStepHook counts from where a session begins."""
    run("run", num_steps=20)
    run("run", num_steps=30)
    assert tf.train.load_variable(str(tmp_path / "run"), "global_step") == 50


@pytest.mark.slow
def test_the_script_restores_the_feature_extractor_of_another_model(run, tmp_path):
    run("first")
    first = str(tmp_path / "first" / "model.ckpt-250")
    name = "FeatureExtractor/Convnet/weights"
    run("second", num_steps=1, fine_tune_checkpoint=first, freeze_variables=["FeatureExtractor/.*"])
    of_first, of_second = (
        {n: tf.train.load_variable(str(tmp_path / f), n) for n in (name, "Predictor/weights")}
        for f in ("first", "second")
    )
    np.testing.assert_array_equal(of_first[name], of_second[name])
    assert np.abs(of_first["Predictor/weights"] - of_second["Predictor/weights"]).max() > 0.1


def test_a_stop_hook_without_a_number_is_refused_by_tensorflow(run):
    """So 0 steps for no end needs no such hook at all."""
    with pytest.raises(ValueError, match="One of num_steps or last_step must be specified."):
        run("run", num_steps=0)
