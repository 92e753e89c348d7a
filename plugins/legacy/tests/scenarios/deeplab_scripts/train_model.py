"""The model of both trainers with its losses."""

import common
import model
import tensorflow.compat.v1 as tf
from train_flags import FLAGS

from tf_frame_legacy import train_utils


def build_deeplab(samples, outputs_to_num_classes, ignore_label):
    samples[common.IMAGE] = tf.identity(samples[common.IMAGE], name=common.IMAGE)
    samples[common.LABEL] = tf.identity(samples[common.LABEL], name=common.LABEL)
    model_options = common.ModelOptions(
        outputs_to_num_classes=outputs_to_num_classes,
        crop_size=[int(size) for size in FLAGS.train_crop_size],
        atrous_rates=FLAGS.atrous_rates,
        output_stride=FLAGS.output_stride,
    )
    outputs_to_scales_to_logits = model.multi_scale_logits(
        samples[common.IMAGE],
        model_options=model_options,
        image_pyramid=FLAGS.image_pyramid,
        weight_decay=FLAGS.weight_decay,
        is_training=True,
        fine_tune_batch_norm=FLAGS.fine_tune_batch_norm,
    )
    output_type_dict = outputs_to_scales_to_logits[common.OUTPUT_TYPE]
    output_type_dict[model.MERGED_LOGITS_SCOPE] = tf.identity(
        output_type_dict[model.MERGED_LOGITS_SCOPE], name=common.OUTPUT_TYPE
    )
    for output, num_classes in outputs_to_num_classes.items():
        train_utils.add_softmax_cross_entropy_loss_for_each_scale(
            outputs_to_scales_to_logits[output],
            samples[common.LABEL],
            num_classes,
            ignore_label,
            loss_weight=1.0,
            upsample_logits=FLAGS.upsample_logits,
            hard_example_mining_step=FLAGS.hard_example_mining_step,
            top_k_percent_pixels=FLAGS.top_k_percent_pixels,
            scope=output,
        )
    return outputs_to_scales_to_logits


def summarize_images(input_image, label, output, num_classes):
    pixel_scaling = max(1, 255 // num_classes)
    summary_label = tf.cast(label * pixel_scaling, tf.uint8)
    predictions = tf.expand_dims(tf.argmax(output, 3), -1)
    summary_predictions = tf.cast(predictions * pixel_scaling, tf.uint8)
    return {
        tf.summary.image(f"samples/{common.IMAGE}", input_image),
        tf.summary.image(f"samples/{common.LABEL}", summary_label),
        tf.summary.image(f"samples/{common.OUTPUT_TYPE}", summary_predictions),
    }
