"""DeepLab's eval.py of 2020 as it is written; only its imports are tf-frame's."""

import common
import data_generator
import model
import tensorflow.compat.v1 as tf

from tf_frame_legacy import quantize, training

flags = tf.app.flags

flags.DEFINE_string("master", "", "BNS name of the tensorflow server")
flags.DEFINE_string("eval_logdir", None, "Where to write the event logs.")
flags.DEFINE_string("checkpoint_dir", None, "Directory of model checkpoints.")
flags.DEFINE_integer("eval_batch_size", 1, "The number of images in each batch.")
flags.DEFINE_list("eval_crop_size", "513,513", "Image crop size for evaluation.")
flags.DEFINE_integer("eval_interval_secs", 60 * 5, "How often to run evaluation.")
flags.DEFINE_multi_integer("atrous_rates", None, "Rates for atrous spatial pyramid pooling.")
flags.DEFINE_integer("output_stride", 16, "The ratio of input to output resolution.")
flags.DEFINE_multi_float("eval_scales", [1.0], "The scales to resize images for evaluation.")
flags.DEFINE_integer("quantize_delay_step", -1, "Step to start quantized training at.")
flags.DEFINE_string("dataset", "pascal_voc_seg", "Name of the segmentation dataset.")
flags.DEFINE_string("eval_split", "val", "Which split of the dataset used for evaluation")
flags.DEFINE_string("dataset_dir", None, "Where the dataset resides.")
flags.DEFINE_integer("max_number_of_evaluations", -1, "-1: evaluate forever.")

FLAGS = flags.FLAGS


def main(unused_argv):
    tf.logging.set_verbosity(tf.logging.INFO)
    dataset = data_generator.Dataset(
        dataset_name=FLAGS.dataset,
        split_name=FLAGS.eval_split,
        dataset_dir=FLAGS.dataset_dir,
        batch_size=FLAGS.eval_batch_size,
        crop_size=[int(size) for size in FLAGS.eval_crop_size],
        model_variant=FLAGS.model_variant,
        num_readers=2,
        is_training=False,
    )
    tf.gfile.MakeDirs(FLAGS.eval_logdir)
    tf.logging.info("Evaluating on %s set", FLAGS.eval_split)

    with tf.Graph().as_default():
        samples = dataset.get_one_shot_iterator().get_next()
        model_options = common.ModelOptions(
            outputs_to_num_classes={common.OUTPUT_TYPE: dataset.num_of_classes},
            crop_size=[int(size) for size in FLAGS.eval_crop_size],
            atrous_rates=FLAGS.atrous_rates,
            output_stride=FLAGS.output_stride,
        )
        predictions = model.predict_labels(
            samples[common.IMAGE], model_options, image_pyramid=FLAGS.image_pyramid
        )
        predictions = tf.reshape(predictions[common.OUTPUT_TYPE], shape=[-1])
        labels = tf.reshape(samples[common.LABEL], shape=[-1])
        weights = tf.to_float(tf.not_equal(labels, dataset.ignore_label))
        labels = tf.where(tf.equal(labels, dataset.ignore_label), tf.zeros_like(labels), labels)

        predictions_tag = "miou"
        for eval_scale in FLAGS.eval_scales:
            predictions_tag += "_" + str(eval_scale)
        miou, update_miou = tf.metrics.mean_iou(
            labels=labels,
            predictions=predictions,
            num_classes=dataset.num_of_classes,
            weights=weights,
            name="mean_iou",
        )
        tf.summary.scalar(predictions_tag, miou)
        summary_op = tf.summary.merge_all()
        summary_hook = training.SummaryAtEndHook(log_dir=FLAGS.eval_logdir, summary_op=summary_op)
        hooks = [summary_hook]

        num_eval_iters = None
        if FLAGS.max_number_of_evaluations > 0:
            num_eval_iters = FLAGS.max_number_of_evaluations
        if FLAGS.quantize_delay_step >= 0:
            quantize.create_eval_graph()

        training.evaluate_repeatedly(
            checkpoint_dir=FLAGS.checkpoint_dir,
            master=FLAGS.master,
            eval_ops=[update_miou],
            max_number_of_evaluations=num_eval_iters,
            hooks=hooks,
            eval_interval_secs=FLAGS.eval_interval_secs,
        )


if __name__ == "__main__":
    tf.app.run()
