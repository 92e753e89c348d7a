"""slim's train_image_classifier.py as it is written, with fewer optimizers and schedules.

Only its imports are tf-frame's.
"""

import classifier_factories as dataset_factory
import classifier_factories as nets_factory
import classifier_factories as preprocessing_factory
import tensorflow.compat.v1 as tf

from tf_frame_legacy import model_deploy, slim

tf.app.flags.DEFINE_string("master", "", "The address of the TensorFlow master to use.")
tf.app.flags.DEFINE_string("train_dir", "tfmodel", "Where checkpoints are written to.")
tf.app.flags.DEFINE_integer("num_clones", 1, "Number of model clones to deploy.")
tf.app.flags.DEFINE_boolean("clone_on_cpu", False, "Use CPUs to deploy clones.")
tf.app.flags.DEFINE_integer("worker_replicas", 1, "Number of worker replicas.")
tf.app.flags.DEFINE_integer("num_ps_tasks", 0, "The number of parameter servers.")
tf.app.flags.DEFINE_integer("num_readers", 4, "The number of parallel readers.")
tf.app.flags.DEFINE_integer("num_preprocessing_threads", 4, "Threads that make batches.")
tf.app.flags.DEFINE_integer("log_every_n_steps", 10, "How often logs are printed.")
tf.app.flags.DEFINE_integer("save_summaries_secs", 600, "How often summaries are saved.")
tf.app.flags.DEFINE_integer("save_interval_secs", 600, "How often the model is saved.")
tf.app.flags.DEFINE_integer("task", 0, "Task id of the replica running the training.")

tf.app.flags.DEFINE_float("weight_decay", 0.00004, "The weight decay on the model weights.")
tf.app.flags.DEFINE_string("optimizer", "rmsprop", "The name of the optimizer.")
tf.app.flags.DEFINE_float("opt_epsilon", 1.0, "Epsilon term for the optimizer.")
tf.app.flags.DEFINE_float("momentum", 0.9, "The momentum for MomentumOptimizer.")
tf.app.flags.DEFINE_float("rmsprop_momentum", 0.9, "Momentum.")
tf.app.flags.DEFINE_float("rmsprop_decay", 0.9, "Decay term for RMSProp.")

tf.app.flags.DEFINE_string("learning_rate_decay_type", "exponential", "How it decays.")
tf.app.flags.DEFINE_float("learning_rate", 0.01, "Initial learning rate.")
tf.app.flags.DEFINE_float("end_learning_rate", 0.0001, "The minimal one, if polynomial.")
tf.app.flags.DEFINE_float("label_smoothing", 0.0, "The amount of label smoothing.")
tf.app.flags.DEFINE_float("learning_rate_decay_factor", 0.94, "Decay factor.")
tf.app.flags.DEFINE_float("num_epochs_per_decay", 2.0, "Epochs after which it decays.")
tf.app.flags.DEFINE_bool("sync_replicas", False, "Whether or not to synchronize replicas.")
tf.app.flags.DEFINE_integer("replicas_to_aggregate", 1, "Gradients to collect.")
tf.app.flags.DEFINE_float("moving_average_decay", None, "None: no moving averages.")

tf.app.flags.DEFINE_string("dataset_name", "imagenet", "The name of the dataset to load.")
tf.app.flags.DEFINE_string("dataset_split_name", "train", "The name of the split.")
tf.app.flags.DEFINE_string("dataset_dir", None, "Where the dataset files are stored.")
tf.app.flags.DEFINE_integer("labels_offset", 0, "An offset for the labels.")
tf.app.flags.DEFINE_string("model_name", "inception_v3", "The architecture to train.")
tf.app.flags.DEFINE_string("preprocessing_name", None, "None: that of the model.")
tf.app.flags.DEFINE_integer("batch_size", 32, "The number of samples in each batch.")
tf.app.flags.DEFINE_integer("train_image_size", None, "Train image size")
tf.app.flags.DEFINE_integer("max_number_of_steps", None, "Maximum number of steps.")

tf.app.flags.DEFINE_string("checkpoint_path", None, "A checkpoint to fine-tune from.")
tf.app.flags.DEFINE_string("checkpoint_exclude_scopes", None, "Scopes not restored.")
tf.app.flags.DEFINE_string("trainable_scopes", None, "Scopes to be trained; None: all.")
tf.app.flags.DEFINE_boolean("ignore_missing_vars", False, "Whether to ignore them.")

FLAGS = tf.app.flags.FLAGS


def _configure_learning_rate(num_samples_per_epoch, global_step):
    decay_steps = int(num_samples_per_epoch * FLAGS.num_epochs_per_decay / FLAGS.batch_size)
    if FLAGS.sync_replicas:
        decay_steps /= FLAGS.replicas_to_aggregate
    if FLAGS.learning_rate_decay_type == "exponential":
        return tf.train.exponential_decay(
            FLAGS.learning_rate,
            global_step,
            decay_steps,
            FLAGS.learning_rate_decay_factor,
            staircase=True,
            name="exponential_decay_learning_rate",
        )
    elif FLAGS.learning_rate_decay_type == "polynomial":
        return tf.train.polynomial_decay(
            FLAGS.learning_rate,
            global_step,
            decay_steps,
            FLAGS.end_learning_rate,
            power=1.0,
            cycle=False,
            name="polynomial_decay_learning_rate",
        )
    raise ValueError(
        f"learning_rate_decay_type [{FLAGS.learning_rate_decay_type}] was not recognized"
    )


def _configure_optimizer(learning_rate):
    if FLAGS.optimizer == "momentum":
        return tf.train.MomentumOptimizer(learning_rate, momentum=FLAGS.momentum, name="Momentum")
    elif FLAGS.optimizer == "rmsprop":
        return tf.train.RMSPropOptimizer(
            learning_rate,
            decay=FLAGS.rmsprop_decay,
            momentum=FLAGS.rmsprop_momentum,
            epsilon=FLAGS.opt_epsilon,
        )
    raise ValueError(f"Optimizer [{FLAGS.optimizer}] was not recognized")


def _get_init_fn():
    if FLAGS.checkpoint_path is None:
        return None
    if tf.train.latest_checkpoint(FLAGS.train_dir):
        tf.logging.info(
            f"Ignoring --checkpoint_path because a checkpoint already exists in {FLAGS.train_dir}"
        )
        return None
    exclusions = []
    if FLAGS.checkpoint_exclude_scopes:
        exclusions = [scope.strip() for scope in FLAGS.checkpoint_exclude_scopes.split(",")]
    variables_to_restore = []
    for var in slim.get_model_variables():
        for exclusion in exclusions:
            if var.op.name.startswith(exclusion):
                break
        else:
            variables_to_restore.append(var)
    if tf.gfile.IsDirectory(FLAGS.checkpoint_path):
        checkpoint_path = tf.train.latest_checkpoint(FLAGS.checkpoint_path)
    else:
        checkpoint_path = FLAGS.checkpoint_path
    tf.logging.info(f"Fine-tuning from {checkpoint_path}")
    return slim.assign_from_checkpoint_fn(
        checkpoint_path, variables_to_restore, ignore_missing_vars=FLAGS.ignore_missing_vars
    )


def _get_variables_to_train():
    if FLAGS.trainable_scopes is None:
        return tf.trainable_variables()
    scopes = [scope.strip() for scope in FLAGS.trainable_scopes.split(",")]
    variables_to_train = []
    for scope in scopes:
        variables_to_train.extend(tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope))
    return variables_to_train


def main(_):
    if not FLAGS.dataset_dir:
        raise ValueError("You must supply the dataset directory with --dataset_dir")
    tf.logging.set_verbosity(tf.logging.INFO)
    with tf.Graph().as_default():
        deploy_config = model_deploy.DeploymentConfig(
            num_clones=FLAGS.num_clones,
            clone_on_cpu=FLAGS.clone_on_cpu,
            replica_id=FLAGS.task,
            num_replicas=FLAGS.worker_replicas,
            num_ps_tasks=FLAGS.num_ps_tasks,
        )
        with tf.device(deploy_config.variables_device()):
            global_step = slim.create_global_step()

        dataset = dataset_factory.get_dataset(
            FLAGS.dataset_name, FLAGS.dataset_split_name, FLAGS.dataset_dir
        )
        network_fn = nets_factory.get_network_fn(
            FLAGS.model_name,
            num_classes=(dataset.num_classes - FLAGS.labels_offset),
            weight_decay=FLAGS.weight_decay,
            is_training=True,
        )
        preprocessing_name = FLAGS.preprocessing_name or FLAGS.model_name
        image_preprocessing_fn = preprocessing_factory.get_preprocessing(
            preprocessing_name, is_training=True
        )

        with tf.device(deploy_config.inputs_device()):
            provider = slim.dataset_data_provider.DatasetDataProvider(
                dataset,
                num_readers=FLAGS.num_readers,
                common_queue_capacity=20 * FLAGS.batch_size,
                common_queue_min=10 * FLAGS.batch_size,
            )
            [image, label] = provider.get(["image", "label"])
            label -= FLAGS.labels_offset
            train_image_size = FLAGS.train_image_size or network_fn.default_image_size
            image = image_preprocessing_fn(image, train_image_size, train_image_size)
            images, labels = tf.train.batch(
                [image, label],
                batch_size=FLAGS.batch_size,
                num_threads=FLAGS.num_preprocessing_threads,
                capacity=5 * FLAGS.batch_size,
            )
            labels = slim.one_hot_encoding(labels, dataset.num_classes - FLAGS.labels_offset)
            batch_queue = slim.prefetch_queue.prefetch_queue(
                [images, labels], capacity=2 * deploy_config.num_clones
            )

        def clone_fn(batch_queue):
            images, labels = batch_queue.dequeue()
            logits, end_points = network_fn(images)
            if "AuxLogits" in end_points:
                slim.losses.softmax_cross_entropy(
                    end_points["AuxLogits"],
                    labels,
                    label_smoothing=FLAGS.label_smoothing,
                    weights=0.4,
                    scope="aux_loss",
                )
            slim.losses.softmax_cross_entropy(
                logits, labels, label_smoothing=FLAGS.label_smoothing, weights=1.0
            )
            return end_points

        summaries = set(tf.get_collection(tf.GraphKeys.SUMMARIES))
        clones = model_deploy.create_clones(deploy_config, clone_fn, [batch_queue])
        first_clone_scope = deploy_config.clone_scope(0)
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, first_clone_scope)

        end_points = clones[0].outputs
        for end_point in end_points:
            x = end_points[end_point]
            summaries.add(tf.summary.histogram("activations/" + end_point, x))
            summaries.add(tf.summary.scalar("sparsity/" + end_point, tf.nn.zero_fraction(x)))
        for loss in tf.get_collection(tf.GraphKeys.LOSSES, first_clone_scope):
            summaries.add(tf.summary.scalar(f"losses/{loss.op.name}", loss))
        for variable in slim.get_model_variables():
            summaries.add(tf.summary.histogram(variable.op.name, variable))

        if FLAGS.moving_average_decay:
            moving_average_variables = slim.get_model_variables()
            variable_averages = tf.train.ExponentialMovingAverage(
                FLAGS.moving_average_decay, global_step
            )
        else:
            moving_average_variables, variable_averages = None, None

        with tf.device(deploy_config.optimizer_device()):
            learning_rate = _configure_learning_rate(dataset.num_samples, global_step)
            optimizer = _configure_optimizer(learning_rate)
            summaries.add(tf.summary.scalar("learning_rate", learning_rate))

        if FLAGS.sync_replicas:
            optimizer = tf.train.SyncReplicasOptimizer(
                opt=optimizer,
                replicas_to_aggregate=FLAGS.replicas_to_aggregate,
                total_num_replicas=FLAGS.worker_replicas,
                variable_averages=variable_averages,
                variables_to_average=moving_average_variables,
            )
        elif FLAGS.moving_average_decay:
            update_ops.append(variable_averages.apply(moving_average_variables))

        variables_to_train = _get_variables_to_train()
        total_loss, clones_gradients = model_deploy.optimize_clones(
            clones, optimizer, var_list=variables_to_train
        )
        summaries.add(tf.summary.scalar("total_loss", total_loss))

        grad_updates = optimizer.apply_gradients(clones_gradients, global_step=global_step)
        update_ops.append(grad_updates)
        update_op = tf.group(*update_ops)
        with tf.control_dependencies([update_op]):
            train_tensor = tf.identity(total_loss, name="train_op")

        summaries |= set(tf.get_collection(tf.GraphKeys.SUMMARIES, first_clone_scope))
        summary_op = tf.summary.merge(list(summaries), name="summary_op")

        slim.learning.train(
            train_tensor,
            logdir=FLAGS.train_dir,
            master=FLAGS.master,
            is_chief=(FLAGS.task == 0),
            init_fn=_get_init_fn(),
            summary_op=summary_op,
            number_of_steps=FLAGS.max_number_of_steps,
            log_every_n_steps=FLAGS.log_every_n_steps,
            save_summaries_secs=FLAGS.save_summaries_secs,
            save_interval_secs=FLAGS.save_interval_secs,
            sync_optimizer=optimizer if FLAGS.sync_replicas else None,
        )


if __name__ == "__main__":
    tf.app.run()
