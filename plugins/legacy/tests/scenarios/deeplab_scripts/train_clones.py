"""DeepLab's trainer of 2018, of clones and slim's loop, as it is written.

Only its imports are others, and its model is in train_model.py.
"""

import common
import input_generator
import model
import segmentation_dataset
import tensorflow.compat.v1 as tf
from train_flags import FLAGS
from train_model import build_deeplab, summarize_images

from tf_frame_legacy import model_deploy, slim, train_utils

prefetch_queue = slim.prefetch_queue


def _build_deeplab(inputs_queue, outputs_to_num_classes, ignore_label):
    return build_deeplab(inputs_queue.dequeue(), outputs_to_num_classes, ignore_label)


def _image_summaries(graph, first_clone_scope, num_classes):
    names = (common.IMAGE, common.LABEL, common.OUTPUT_TYPE)
    tensors = [f"{first_clone_scope}/{name}:0".strip("/") for name in names]
    return summarize_images(*map(graph.get_tensor_by_name, tensors), num_classes)


def main(unused_argv):
    tf.logging.set_verbosity(tf.logging.INFO)
    config = model_deploy.DeploymentConfig(
        num_clones=FLAGS.num_clones,
        clone_on_cpu=FLAGS.clone_on_cpu,
        replica_id=FLAGS.task,
        num_replicas=FLAGS.num_replicas,
        num_ps_tasks=FLAGS.num_ps_tasks,
    )
    assert FLAGS.train_batch_size % config.num_clones == 0, (
        "Training batch size not divisble by number of clones (GPUs)."
    )
    clone_batch_size = FLAGS.train_batch_size // config.num_clones
    dataset = segmentation_dataset.get_dataset(FLAGS.dataset, FLAGS.train_split, FLAGS.dataset_dir)

    tf.gfile.MakeDirs(FLAGS.train_logdir)
    tf.logging.info("Training on %s set", FLAGS.train_split)

    with tf.Graph().as_default() as graph:
        with tf.device(config.inputs_device()):
            samples = input_generator.get(
                dataset,
                [int(size) for size in FLAGS.train_crop_size],
                clone_batch_size,
                min_resize_value=FLAGS.min_resize_value,
                max_resize_value=FLAGS.max_resize_value,
                resize_factor=FLAGS.resize_factor,
                min_scale_factor=FLAGS.min_scale_factor,
                max_scale_factor=FLAGS.max_scale_factor,
                scale_factor_step_size=FLAGS.scale_factor_step_size,
                dataset_split=FLAGS.train_split,
                is_training=True,
                model_variant=FLAGS.model_variant,
            )
            inputs_queue = prefetch_queue.prefetch_queue(samples, capacity=128 * config.num_clones)

        with tf.device(config.variables_device()):
            global_step = tf.train.get_or_create_global_step()
            model_args = (
                inputs_queue,
                {common.OUTPUT_TYPE: dataset.num_classes},
                dataset.ignore_label,
            )
            clones = model_deploy.create_clones(config, _build_deeplab, args=model_args)
            first_clone_scope = config.clone_scope(0)
            update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, first_clone_scope)

        summaries = set(tf.get_collection(tf.GraphKeys.SUMMARIES))
        for model_var in slim.get_model_variables():
            summaries.add(tf.summary.histogram(model_var.op.name, model_var))
        if FLAGS.save_summaries_images:
            summaries |= _image_summaries(graph, first_clone_scope, dataset.num_classes)
        for loss in tf.get_collection(tf.GraphKeys.LOSSES, first_clone_scope):
            summaries.add(tf.summary.scalar(f"losses/{loss.op.name}", loss))

        with tf.device(config.optimizer_device()):
            learning_rate = train_utils.get_model_learning_rate(
                FLAGS.learning_policy,
                FLAGS.base_learning_rate,
                FLAGS.learning_rate_decay_step,
                FLAGS.learning_rate_decay_factor,
                FLAGS.training_number_of_steps,
                FLAGS.learning_power,
                FLAGS.slow_start_step,
                FLAGS.slow_start_learning_rate,
            )
            optimizer = tf.train.MomentumOptimizer(learning_rate, FLAGS.momentum)
            summaries.add(tf.summary.scalar("learning_rate", learning_rate))
            for variable in slim.get_model_variables():
                summaries.add(tf.summary.histogram(variable.op.name, variable))

        startup_delay_steps = FLAGS.task * FLAGS.startup_delay_steps
        with tf.device(config.variables_device()):
            total_loss, grads_and_vars = model_deploy.optimize_clones(clones, optimizer)
            total_loss = tf.check_numerics(total_loss, "Loss is inf or nan.")
            summaries.add(tf.summary.scalar("total_loss", total_loss))

            last_layers = model.get_extra_layer_scopes(FLAGS.last_layers_contain_logits_only)
            grad_mult = train_utils.get_model_gradient_multipliers(
                last_layers, FLAGS.last_layer_gradient_multiplier
            )
            if grad_mult:
                grads_and_vars = slim.learning.multiply_gradients(grads_and_vars, grad_mult)
            grad_updates = optimizer.apply_gradients(grads_and_vars, global_step=global_step)
            update_ops.append(grad_updates)
            update_op = tf.group(*update_ops)
            with tf.control_dependencies([update_op]):
                train_tensor = tf.identity(total_loss, name="train_op")

        summaries |= set(tf.get_collection(tf.GraphKeys.SUMMARIES, first_clone_scope))
        summary_op = tf.summary.merge(list(summaries))
        session_config = tf.ConfigProto(allow_soft_placement=True, log_device_placement=False)

        slim.learning.train(
            train_tensor,
            logdir=FLAGS.train_logdir,
            log_every_n_steps=FLAGS.log_steps,
            master=FLAGS.master,
            number_of_steps=FLAGS.training_number_of_steps,
            is_chief=(FLAGS.task == 0),
            session_config=session_config,
            startup_delay_steps=startup_delay_steps,
            init_fn=train_utils.get_model_init_fn(
                FLAGS.train_logdir,
                FLAGS.tf_initial_checkpoint,
                FLAGS.initialize_last_layer,
                last_layers,
                ignore_missing_vars=True,
            ),
            summary_op=summary_op,
            save_summaries_secs=FLAGS.save_summaries_secs,
            save_interval_secs=FLAGS.save_interval_secs,
        )


if __name__ == "__main__":
    tf.app.run()
