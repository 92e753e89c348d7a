"""Factories of slim's two scripts: data sets, networks and preprocessing by name."""

import functools
import os

import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim

_SPLITS_TO_SIZES = {"train": 2000, "test": 500}


def fashion_mnist(split_name, dataset_dir, file_pattern=None, reader=None):
    if split_name not in _SPLITS_TO_SIZES:
        raise ValueError(f"split name {split_name} was not recognized.")
    keys_to_features = {
        "image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
        "image/format": tf.FixedLenFeature((), tf.string, default_value="raw"),
        "image/class/label": tf.FixedLenFeature(
            [1], tf.int64, default_value=tf.zeros([1], dtype=tf.int64)
        ),
    }
    items_to_handlers = {
        "image": slim.tfexample_decoder.Image(shape=[28, 28, 1], channels=1),
        "label": slim.tfexample_decoder.Tensor("image/class/label", shape=[]),
    }
    decoder = slim.tfexample_decoder.TFExampleDecoder(keys_to_features, items_to_handlers)
    return slim.dataset.Dataset(
        data_sources=os.path.join(dataset_dir, file_pattern or f"{split_name}-*"),
        reader=reader or tf.TFRecordReader,
        decoder=decoder,
        num_samples=_SPLITS_TO_SIZES[split_name],
        num_classes=10,
        items_to_descriptions={
            "image": "A [28 x 28 x 1] grayscale image.",
            "label": "A single integer between 0 and 9",
        },
    )


datasets_map = {"fashion_mnist": fashion_mnist}


def get_dataset(name, split_name, dataset_dir, file_pattern=None, reader=None):
    if name not in datasets_map:
        raise ValueError(f"Name of dataset unknown {name}")
    return datasets_map[name](split_name, dataset_dir, file_pattern, reader)


def lenet(images, num_classes=10, is_training=False, dropout_keep_prob=0.5, scope="LeNet"):
    end_points = {}
    with tf.variable_scope(scope, "LeNet", [images]):
        net = end_points["conv1"] = slim.conv2d(images, 8, [5, 5], scope="conv1")
        net = end_points["pool1"] = slim.max_pool2d(net, [2, 2], 2, scope="pool1")
        net = end_points["conv2"] = slim.conv2d(net, 16, [5, 5], scope="conv2")
        net = end_points["pool2"] = slim.max_pool2d(net, [2, 2], 2, scope="pool2")
        net = end_points["Flatten"] = slim.flatten(net)
        net = end_points["fc3"] = slim.fully_connected(net, 64, scope="fc3")
        net = end_points["dropout3"] = slim.dropout(
            net, dropout_keep_prob, is_training=is_training, scope="dropout3"
        )
        logits = end_points["Logits"] = slim.fully_connected(
            net, num_classes, activation_fn=None, scope="fc4"
        )
    end_points["Predictions"] = slim.softmax(logits, scope="Predictions")
    return logits, end_points


lenet.default_image_size = 28


def lenet_arg_scope(weight_decay=0.0):
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        weights_regularizer=slim.l2_regularizer(weight_decay),
        weights_initializer=tf.truncated_normal_initializer(stddev=0.1),
        activation_fn=tf.nn.relu,
    ) as sc:
        return sc


def small_inception(images, num_classes=10, is_training=False, scope="SmallInception"):
    """Branches, batch norm, depthwise convolutions and an auxiliary head, as Inception has."""
    end_points = {}
    with (
        tf.variable_scope(scope, "SmallInception", [images]),
        slim.arg_scope([slim.batch_norm, slim.dropout], is_training=is_training),
        slim.arg_scope([slim.conv2d, slim.max_pool2d], stride=1, padding="SAME"),
    ):
        net = slim.conv2d(images, 16, [3, 3], stride=2, scope="Conv2d_1a_3x3")
        end_points["Conv2d_1a_3x3"] = net
        with tf.variable_scope("Mixed_2b"):
            with tf.variable_scope("Branch_0"):
                branch_0 = slim.conv2d(net, 8, [1, 1], scope="Conv2d_0a_1x1")
            with tf.variable_scope("Branch_1"):
                branch_1 = slim.separable_conv2d(net, 8, [3, 3], 1, scope="Conv2d_0a_3x3")
            with tf.variable_scope("Branch_2"):
                branch_2 = slim.max_pool2d(net, [3, 3], scope="MaxPool_0a_3x3")
            net = end_points["Mixed_2b"] = tf.concat([branch_0, branch_1, branch_2], 3)
        with tf.variable_scope("AuxLogits"):
            aux = slim.avg_pool2d(net, [7, 7], stride=7, padding="VALID", scope="AvgPool")
            aux = slim.fully_connected(slim.flatten(aux), num_classes, activation_fn=None)
            end_points["AuxLogits"] = aux
        net = slim.conv2d(net, 32, [3, 3], stride=2, scope="Conv2d_3a_3x3")
        end_points["Conv2d_3a_3x3"] = net
        with tf.variable_scope("Logits"):
            net = slim.avg_pool2d(net, [7, 7], padding="VALID", scope="AvgPool_1a_7x7")
            net = slim.dropout(net, keep_prob=0.8, scope="Dropout_1b")
            logits = slim.conv2d(
                net,
                num_classes,
                [1, 1],
                activation_fn=None,
                normalizer_fn=None,
                scope="Conv2d_1c_1x1",
            )
            logits = tf.squeeze(logits, [1, 2], name="SpatialSqueeze")
        end_points["Logits"] = logits
        end_points["Predictions"] = slim.softmax(logits, scope="Predictions")
    return logits, end_points


small_inception.default_image_size = 28


def small_inception_arg_scope(weight_decay=0.0, batch_norm_decay=0.9):
    with (
        slim.arg_scope(
            [slim.conv2d, slim.separable_conv2d, slim.fully_connected],
            weights_regularizer=slim.l2_regularizer(weight_decay),
        ),
        slim.arg_scope(
            [slim.conv2d, slim.separable_conv2d],
            weights_initializer=slim.variance_scaling_initializer(),
            normalizer_fn=slim.batch_norm,
            normalizer_params={"decay": batch_norm_decay, "scale": True},
        ) as sc,
    ):
        return sc


networks_map = {"lenet": lenet, "small_inception": small_inception}
arg_scopes_map = {"lenet": lenet_arg_scope, "small_inception": small_inception_arg_scope}


def get_network_fn(name, num_classes, weight_decay=0.0, is_training=False):
    if name not in networks_map:
        raise ValueError(f"Name of network unknown {name}")
    func = networks_map[name]

    @functools.wraps(func)
    def network_fn(images, **kwargs):
        arg_scope = arg_scopes_map[name](weight_decay=weight_decay)
        with slim.arg_scope(arg_scope):
            return func(images, num_classes, is_training=is_training, **kwargs)

    return network_fn


def get_preprocessing(name, is_training=False):
    def preprocessing_fn(image, output_height, output_width):
        image = tf.cast(image, tf.float32)
        image = tf.image.resize_image_with_crop_or_pad(image, output_width, output_height)
        return (image - 128.0) / 128.0

    if name not in networks_map:
        raise ValueError(f"Preprocessing name [{name}] was not recognized")
    return preprocessing_fn
