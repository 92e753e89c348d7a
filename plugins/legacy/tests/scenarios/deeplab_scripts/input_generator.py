"""Batches of the first generation, from slim's data provider."""

import common
import preprocess
import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim

dataset_data_provider = slim.dataset_data_provider


def _get_data(data_provider, dataset_split):
    image, height, width, image_name, label = data_provider.get(
        [common.IMAGE, common.HEIGHT, common.WIDTH, common.IMAGE_NAME, common.LABELS_CLASS]
    )
    if label.shape.ndims == 2:
        label = tf.expand_dims(label, 2)
    label.set_shape([None, None, 1])
    return image, label, image_name, height, width


def get(
    dataset,
    crop_size,
    batch_size,
    min_resize_value=None,
    max_resize_value=None,
    resize_factor=None,
    min_scale_factor=1.0,
    max_scale_factor=1.0,
    scale_factor_step_size=0,
    num_readers=1,
    num_threads=1,
    dataset_split=None,
    is_training=True,
    model_variant=None,
):
    if dataset_split is None:
        raise ValueError("Unknown dataset split.")
    if model_variant is None:
        tf.logging.warning("Please specify a model_variant.")
    data_provider = dataset_data_provider.DatasetDataProvider(
        dataset,
        num_readers=num_readers,
        num_epochs=None if is_training else 1,
        shuffle=is_training,
    )
    image, label, image_name, height, width = _get_data(data_provider, dataset_split)
    image, label = preprocess.preprocess_image_and_label(
        image,
        label,
        crop_height=crop_size[0],
        crop_width=crop_size[1],
        min_scale_factor=min_scale_factor,
        max_scale_factor=max_scale_factor,
        scale_factor_step_size=scale_factor_step_size,
        ignore_label=dataset.ignore_label,
        is_training=is_training,
    )
    sample = {
        common.IMAGE: image,
        common.IMAGE_NAME: image_name,
        common.HEIGHT: height,
        common.WIDTH: width,
        common.LABEL: label,
    }
    return tf.train.batch(
        sample,
        batch_size=batch_size,
        num_threads=num_threads,
        capacity=32 * batch_size,
        allow_smaller_final_batch=not is_training,
        dynamic_pad=True,
    )
