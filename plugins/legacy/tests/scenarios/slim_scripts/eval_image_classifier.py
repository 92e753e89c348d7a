"""slim's eval_image_classifier.py as it is written; only its imports are tf-frame's."""

import math

import classifier_factories as dataset_factory
import classifier_factories as nets_factory
import classifier_factories as preprocessing_factory
import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim

tf.app.flags.DEFINE_integer("batch_size", 100, "The number of samples in each batch.")
tf.app.flags.DEFINE_integer("max_num_batches", None, "None: all of them.")
tf.app.flags.DEFINE_string("master", "", "The address of the TensorFlow master to use.")
tf.app.flags.DEFINE_string("checkpoint_path", "tfmodel", "A folder, or a checkpoint.")
tf.app.flags.DEFINE_string("eval_dir", "tfmodel", "Where the results are saved to.")
tf.app.flags.DEFINE_integer("num_preprocessing_threads", 4, "Threads that make batches.")
tf.app.flags.DEFINE_string("dataset_name", "imagenet", "The name of the dataset to load.")
tf.app.flags.DEFINE_string("dataset_split_name", "test", "The name of the split.")
tf.app.flags.DEFINE_string("dataset_dir", None, "Where the dataset files are stored.")
tf.app.flags.DEFINE_integer("labels_offset", 0, "An offset for the labels.")
tf.app.flags.DEFINE_string("model_name", "inception_v3", "The architecture to evaluate.")
tf.app.flags.DEFINE_string("preprocessing_name", None, "None: that of the model.")
tf.app.flags.DEFINE_float("moving_average_decay", None, "None: no moving averages.")
tf.app.flags.DEFINE_integer("eval_image_size", None, "Eval image size")

FLAGS = tf.app.flags.FLAGS


def main(_):
    if not FLAGS.dataset_dir:
        raise ValueError("You must supply the dataset directory with --dataset_dir")
    tf.logging.set_verbosity(tf.logging.INFO)
    with tf.Graph().as_default():
        tf_global_step = slim.get_or_create_global_step()
        dataset = dataset_factory.get_dataset(
            FLAGS.dataset_name, FLAGS.dataset_split_name, FLAGS.dataset_dir
        )
        network_fn = nets_factory.get_network_fn(
            FLAGS.model_name,
            num_classes=(dataset.num_classes - FLAGS.labels_offset),
            is_training=False,
        )
        provider = slim.dataset_data_provider.DatasetDataProvider(
            dataset,
            shuffle=False,
            common_queue_capacity=2 * FLAGS.batch_size,
            common_queue_min=FLAGS.batch_size,
        )
        [image, label] = provider.get(["image", "label"])
        label -= FLAGS.labels_offset
        preprocessing_name = FLAGS.preprocessing_name or FLAGS.model_name
        image_preprocessing_fn = preprocessing_factory.get_preprocessing(
            preprocessing_name, is_training=False
        )
        eval_image_size = FLAGS.eval_image_size or network_fn.default_image_size
        image = image_preprocessing_fn(image, eval_image_size, eval_image_size)
        images, labels = tf.train.batch(
            [image, label],
            batch_size=FLAGS.batch_size,
            num_threads=FLAGS.num_preprocessing_threads,
            capacity=5 * FLAGS.batch_size,
        )
        logits, _ = network_fn(images)

        if FLAGS.moving_average_decay:
            variable_averages = tf.train.ExponentialMovingAverage(
                FLAGS.moving_average_decay, tf_global_step
            )
            variables_to_restore = variable_averages.variables_to_restore(
                slim.get_model_variables()
            )
            variables_to_restore[tf_global_step.op.name] = tf_global_step
        else:
            variables_to_restore = slim.get_variables_to_restore()

        predictions = tf.argmax(logits, 1)
        labels = tf.squeeze(labels)
        names_to_values, names_to_updates = slim.metrics.aggregate_metric_map(
            {
                "Accuracy": slim.metrics.streaming_accuracy(predictions, labels),
                "Recall_5": slim.metrics.streaming_recall_at_k(logits, labels, 5),
            }
        )
        for name, value in names_to_values.items():
            summary_name = f"eval/{name}"
            op = tf.summary.scalar(summary_name, value, collections=[])
            op = tf.Print(op, [value], summary_name)
            tf.add_to_collection(tf.GraphKeys.SUMMARIES, op)

        if FLAGS.max_num_batches:
            num_batches = FLAGS.max_num_batches
        else:
            num_batches = math.ceil(dataset.num_samples / float(FLAGS.batch_size))
        if tf.gfile.IsDirectory(FLAGS.checkpoint_path):
            checkpoint_path = tf.train.latest_checkpoint(FLAGS.checkpoint_path)
        else:
            checkpoint_path = FLAGS.checkpoint_path
        tf.logging.info(f"Evaluating {checkpoint_path}")
        slim.evaluation.evaluate_once(
            master=FLAGS.master,
            checkpoint_path=checkpoint_path,
            logdir=FLAGS.eval_dir,
            num_evals=num_batches,
            eval_op=list(names_to_updates.values()),
            variables_to_restore=variables_to_restore,
        )


if __name__ == "__main__":
    tf.app.run()
