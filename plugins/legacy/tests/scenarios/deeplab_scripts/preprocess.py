"""Random scale, crop and mirroring of an image and its labels, as DeepLab's trainers do it."""

import tensorflow.compat.v1 as tf

MEAN_PIXEL = 127.5


def _random_scale(low, high, step):
    if low == high:
        return tf.cast(low, tf.float32)
    if step == 0:
        return tf.random_uniform([1], minval=low, maxval=high)[0]
    num_steps = int((high - low) / step + 1)
    return tf.random_shuffle(tf.lin_space(low, high, num_steps))[0]


def _scaled(image, label, scale):
    size = tf.cast(tf.cast(tf.shape(image)[:2], tf.float32) * scale, tf.int32)
    image = tf.squeeze(
        tf.image.resize_bilinear(tf.expand_dims(image, 0), size, align_corners=True), [0]
    )
    label = tf.squeeze(
        tf.image.resize_nearest_neighbor(tf.expand_dims(label, 0), size, align_corners=True), [0]
    )
    return image, label


def _padded(tensor, height, width, value):
    shape = tf.shape(tensor)
    tensor -= value
    tensor = tf.pad(
        tensor,
        [[0, tf.maximum(height - shape[0], 0)], [0, tf.maximum(width - shape[1], 0)], [0, 0]],
    )
    return tensor + value


def preprocess_image_and_label(
    image,
    label,
    crop_height,
    crop_width,
    min_scale_factor=1.0,
    max_scale_factor=1.0,
    scale_factor_step_size=0,
    ignore_label=255,
    is_training=True,
):
    image, label = tf.cast(image, tf.float32), tf.cast(label, tf.int32)
    if is_training:
        scale = _random_scale(min_scale_factor, max_scale_factor, scale_factor_step_size)
        image, label = _scaled(image, label, scale)
    image = _padded(image, crop_height, crop_width, MEAN_PIXEL)
    label = _padded(label, crop_height, crop_width, ignore_label)
    if is_training:
        both = tf.concat([image, tf.cast(label, tf.float32)], 2)
        both = tf.random_crop(both, [crop_height, crop_width, 4])
        both = tf.image.random_flip_left_right(both)
        image, label = both[:, :, :3], tf.cast(both[:, :, 3:], tf.int32)
    image.set_shape([crop_height, crop_width, 3])
    label.set_shape([crop_height, crop_width, 1])
    return image, label
