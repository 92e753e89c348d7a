"""DeepLab's trainer of 2020, of towers in a monitored session, as it is written.

Only its imports are others, and its model is in train_model.py.
"""

import common
import data_generator
import model
import tensorflow.compat.v1 as tf
from tensorflow.python.ops import math_ops
from train_flags import FLAGS
from train_model import build_deeplab, summarize_images

from tf_frame_legacy import quantize, train_utils, training
from tf_frame_legacy.profile_context import ProfileContext


def _build_deeplab(iterator, outputs_to_num_classes, ignore_label):
    samples = iterator.get_next()
    logits = build_deeplab(samples, outputs_to_num_classes, ignore_label)[common.OUTPUT_TYPE]
    for model_var in tf.model_variables():
        tf.summary.histogram(model_var.op.name, model_var)
    if FLAGS.save_summaries_images:
        summarize_images(
            samples[common.IMAGE],
            samples[common.LABEL],
            logits[model.MERGED_LOGITS_SCOPE],
            outputs_to_num_classes[common.OUTPUT_TYPE],
        )


def _tower_loss(iterator, num_of_classes, ignore_label, scope, reuse_variable):
    with tf.variable_scope(tf.get_variable_scope(), reuse=True if reuse_variable else None):
        _build_deeplab(iterator, {common.OUTPUT_TYPE: num_of_classes}, ignore_label)
    losses = tf.losses.get_losses(scope=scope)
    for loss in losses:
        tf.summary.scalar(f"Losses/{loss.op.name}", loss)
    regularization_loss = tf.losses.get_regularization_loss(scope=scope)
    tf.summary.scalar(f"Losses/{regularization_loss.op.name}", regularization_loss)
    return tf.add_n([tf.add_n(losses), regularization_loss])


def _average_gradients(tower_grads):
    average_grads = []
    for grad_and_vars in zip(*tower_grads, strict=True):
        grads, variables = zip(*grad_and_vars, strict=True)
        average_grads.append((tf.reduce_mean(tf.stack(grads, axis=0), axis=0), variables[0]))
    return average_grads


def _optimizer(learning_rate):
    if FLAGS.optimizer == "momentum":
        return tf.train.MomentumOptimizer(learning_rate, FLAGS.momentum)
    elif FLAGS.optimizer == "adam":
        return tf.train.AdamOptimizer(
            learning_rate=FLAGS.adam_learning_rate, epsilon=FLAGS.adam_epsilon
        )
    raise ValueError("Unknown optimizer")


def _train_deeplab_model(iterator, num_of_classes, ignore_label):
    global_step = tf.train.get_or_create_global_step()
    learning_rate = train_utils.get_model_learning_rate(
        FLAGS.learning_policy,
        FLAGS.base_learning_rate,
        FLAGS.learning_rate_decay_step,
        FLAGS.learning_rate_decay_factor,
        FLAGS.training_number_of_steps,
        FLAGS.learning_power,
        FLAGS.slow_start_step,
        FLAGS.slow_start_learning_rate,
        decay_steps=FLAGS.decay_steps,
        end_learning_rate=FLAGS.end_learning_rate,
    )
    tf.summary.scalar("learning_rate", learning_rate)
    optimizer = _optimizer(learning_rate)

    tower_losses = []
    tower_grads = []
    for i in range(FLAGS.num_clones):
        with tf.device(f"/gpu:{i}"):
            name_scope = f"clone_{i}" if i else ""
            with tf.name_scope(name_scope) as scope:
                loss = _tower_loss(
                    iterator=iterator,
                    num_of_classes=num_of_classes,
                    ignore_label=ignore_label,
                    scope=scope,
                    reuse_variable=(i != 0),
                )
                tower_losses.append(loss)

    if FLAGS.quantize_delay_step >= 0:
        if FLAGS.num_clones > 1:
            raise ValueError("Quantization doesn't support multi-clone yet.")
        quantize.create_training_graph(quant_delay=FLAGS.quantize_delay_step)

    for i in range(FLAGS.num_clones):
        with tf.device(f"/gpu:{i}"):
            name_scope = f"clone_{i}" if i else ""
            with tf.name_scope(name_scope):
                tower_grads.append(optimizer.compute_gradients(tower_losses[i]))

    with tf.device("/cpu:0"):
        grads_and_vars = _average_gradients(tower_grads)
        last_layers = model.get_extra_layer_scopes(FLAGS.last_layers_contain_logits_only)
        grad_mult = train_utils.get_model_gradient_multipliers(
            last_layers, FLAGS.last_layer_gradient_multiplier
        )
        if grad_mult:
            grads_and_vars = training.multiply_gradients(grads_and_vars, grad_mult)
        grad_updates = optimizer.apply_gradients(grads_and_vars, global_step=global_step)

        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        update_ops.append(grad_updates)
        update_op = tf.group(*update_ops)

        total_loss = tf.losses.get_total_loss(add_regularization_losses=True)
        should_log = math_ops.equal(math_ops.mod(global_step, FLAGS.log_steps), 0)
        total_loss = tf.cond(
            should_log,
            lambda: tf.Print(total_loss, [total_loss], "Total loss is :"),
            lambda: total_loss,
        )
        tf.summary.scalar("total_loss", total_loss)
        with tf.control_dependencies([update_op]):
            train_tensor = tf.identity(total_loss, name="train_op")
        summary_op = tf.summary.merge_all(scope="(?!clone_)")
    return train_tensor, summary_op


def main(unused_argv):
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.gfile.MakeDirs(FLAGS.train_logdir)
    tf.logging.info("Training on %s set", FLAGS.train_split)

    graph = tf.Graph()
    with (
        graph.as_default(),
        tf.device(tf.train.replica_device_setter(ps_tasks=FLAGS.num_ps_tasks)),
    ):
        assert FLAGS.train_batch_size % FLAGS.num_clones == 0, (
            "Training batch size not divisble by number of clones (GPUs)."
        )
        dataset = data_generator.Dataset(
            dataset_name=FLAGS.dataset,
            split_name=FLAGS.train_split,
            dataset_dir=FLAGS.dataset_dir,
            batch_size=FLAGS.train_batch_size // FLAGS.num_clones,
            crop_size=[int(size) for size in FLAGS.train_crop_size],
            min_scale_factor=FLAGS.min_scale_factor,
            max_scale_factor=FLAGS.max_scale_factor,
            scale_factor_step_size=FLAGS.scale_factor_step_size,
            model_variant=FLAGS.model_variant,
            num_readers=4,
            is_training=True,
            should_shuffle=True,
            should_repeat=True,
        )
        train_tensor, summary_op = _train_deeplab_model(
            dataset.get_one_shot_iterator(), dataset.num_of_classes, dataset.ignore_label
        )
        session_config = tf.ConfigProto(allow_soft_placement=True, log_device_placement=False)
        last_layers = model.get_extra_layer_scopes(FLAGS.last_layers_contain_logits_only)
        init_fn = None
        if FLAGS.tf_initial_checkpoint:
            init_fn = train_utils.get_model_init_fn(
                FLAGS.train_logdir,
                FLAGS.tf_initial_checkpoint,
                FLAGS.initialize_last_layer,
                last_layers,
                ignore_missing_vars=True,
            )
        scaffold = tf.train.Scaffold(init_fn=init_fn, summary_op=summary_op)
        stop_hook = tf.train.StopAtStepHook(last_step=FLAGS.training_number_of_steps)

        profile_dir = FLAGS.profile_logdir
        if profile_dir is not None:
            tf.gfile.MakeDirs(profile_dir)
        with (
            ProfileContext(enabled=profile_dir is not None, profile_dir=profile_dir),
            tf.train.MonitoredTrainingSession(
                master=FLAGS.master,
                is_chief=(FLAGS.task == 0),
                config=session_config,
                scaffold=scaffold,
                checkpoint_dir=FLAGS.train_logdir,
                summary_dir=FLAGS.train_logdir,
                log_step_count_steps=FLAGS.log_steps,
                save_summaries_steps=FLAGS.save_summaries_secs,
                save_checkpoint_secs=FLAGS.save_interval_secs,
                hooks=[stop_hook],
            ) as sess,
        ):
            while not sess.should_stop():
                sess.run([train_tensor])


if __name__ == "__main__":
    tf.app.run()
