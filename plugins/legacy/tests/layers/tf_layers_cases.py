"""Programs for tf.layers, and the table of what they make, for a comparison with TensorFlow's own.

`plugins/legacy/tests/layers/tf_layers.json` was made by running this file with TensorFlow 2.15 and
its Keras 2.15.0, the last release that contains `tf.compat.v1.layers`.
"""

import json
import sys
import zlib

import numpy as np
import tensorflow.compat.v1 as tf

RANDOM = np.random.RandomState(0)
VECTORS = RANDOM.normal(size=[4, 3]).astype(np.float32)
SERIES = RANDOM.normal(size=[2, 7, 3]).astype(np.float32)
IMAGES = RANDOM.normal(size=[2, 5, 6, 3]).astype(np.float32)
VOLUMES = RANDOM.normal(size=[1, 3, 4, 5, 2]).astype(np.float32)


def penalty(values):
    return 0.1 * tf.reduce_sum(tf.square(values))


def two_in_scopes(tfl):
    with tf.variable_scope("block"):
        net = tfl.dense(VECTORS, 2)
        net = tfl.dense(net, 2)
        net = tfl.dense(net, 2, name="named")
    with tf.variable_scope("block", reuse=True):
        again = tfl.dense(tfl.dense(VECTORS, 2), 2)
    with tf.variable_scope("block_2"):
        return [net, again, tfl.dense(net, 2)]


def shared_by_name(tfl):
    first = tfl.conv2d(IMAGES, 2, 1, name="shared", kernel_regularizer=penalty)
    second = tfl.conv2d(IMAGES, 2, 1, name="shared", reuse=True, kernel_regularizer=penalty)
    third = tfl.dense(VECTORS, 2, name="auto", reuse=tf.AUTO_REUSE)
    return [first, second, third, tfl.dense(VECTORS, 2, name="auto", reuse=tf.AUTO_REUSE)]


def called_twice(tfl):
    layer = tfl.Dense(2, activation=tf.nn.relu, kernel_regularizer=penalty)
    other = tfl.Dense(2, name="mine")
    return [layer(VECTORS), layer(VECTORS + 1), other(VECTORS), tfl.Dense(2, name="mine")(VECTORS)]


def network(tfl):
    net = tfl.conv2d(IMAGES, 2, 3, padding="same", use_bias=False)
    net = tf.nn.relu(tfl.batch_normalization(net, training=True))
    net = tfl.conv2d(net, 2, 3, padding="same", activation=tf.nn.relu)
    net = tfl.max_pooling2d(tfl.batch_normalization(net, training=True), 2, 2)
    net = tfl.average_pooling2d(net, 2, 1, name="pool")
    net = tfl.max_pooling2d(net, 1, 1, name="pool")
    net = tfl.dropout(tfl.flatten(net), 0.4)
    return tfl.dense(tfl.dense(net, 2, tf.nn.tanh), 2, name="logits")


def arguments_of_the_scope(tfl):
    def doubled(getter, *args, **kwargs):
        return 2.0 * getter(*args, **kwargs)

    with tf.variable_scope("penalised", regularizer=penalty):
        net = tfl.conv2d(IMAGES, 2, 3)
    with tf.variable_scope("doubled", custom_getter=doubled):
        return [net, tfl.dense(VECTORS, 2)]


def twice_with_auto_reuse(tfl):
    outputs = []
    for _ in range(2):
        with tf.variable_scope("tower", reuse=tf.AUTO_REUSE):
            outputs += [tfl.dense(VECTORS, 2), tfl.dense(VECTORS, 2, name="mine")]
    return outputs


def own_layer(tfl):
    class MyScale(tfl.Layer):
        def build(self, input_shape):
            self.factor = self.add_weight("factor", [3], regularizer=penalty)
            self.offset = self.add_variable("offset", [3], trainable=False)
            super().build(input_shape)

        def call(self, inputs):
            return inputs * self.factor + self.offset

    layer = MyScale()
    return [layer(tf.constant(VECTORS)), layer(tf.constant(VECTORS)), MyScale()(VECTORS)]


CASES = {
    "conv1d": lambda tfl: tfl.conv1d(SERIES, 2, 3, 2),
    "conv1d_causal": lambda tfl: tfl.conv1d(SERIES, 2, 3, padding="causal", dilation_rate=2),
    "conv2d": lambda tfl: tfl.conv2d(IMAGES, 2, 3),
    "conv2d_keywords": lambda tfl: tfl.conv2d(
        inputs=IMAGES,
        filters=2,
        kernel_size=[3, 2],
        strides=(2, 2),
        padding="same",
        activation=tf.nn.relu,
        name="conv1",
    ),
    "conv2d_dilated": lambda tfl: tfl.conv2d(IMAGES, 2, 2, dilation_rate=(2, 1), use_bias=False),
    "conv2d_penalties": lambda tfl: tfl.conv2d(
        IMAGES,
        2,
        2,
        kernel_regularizer=penalty,
        bias_regularizer=penalty,
        activity_regularizer=penalty,
        activation="relu",
        kernel_initializer="glorot_normal",
    ),
    "conv2d_not_trained": lambda tfl: tfl.conv2d(IMAGES, 2, 2, trainable=False),
    "conv3d": lambda tfl: tfl.conv3d(VOLUMES, 2, 2, padding="same"),
    "conv2d_transpose": lambda tfl: tfl.conv2d_transpose(IMAGES, 2, 3, strides=2, padding="same"),
    "conv2d_transpose_valid": lambda tfl: tfl.conv2d_transpose(IMAGES, 2, 3, strides=(2, 1)),
    "conv3d_transpose": lambda tfl: tfl.conv3d_transpose(VOLUMES, 1, 2, use_bias=False),
    "separable_conv1d": lambda tfl: tfl.separable_conv1d(SERIES, 2, 3, depth_multiplier=2),
    "separable_conv1d_same": lambda tfl: tfl.separable_conv1d(SERIES, 2, 3, 2, "same"),
    "separable_conv2d": lambda tfl: tfl.separable_conv2d(
        IMAGES, 2, 3, padding="same", depthwise_regularizer=penalty, pointwise_regularizer=penalty
    ),
    "separable_conv2d_dilated": lambda tfl: tfl.separable_conv2d(IMAGES, 2, 2, dilation_rate=2),
    "separable_conv2d_no_bias": lambda tfl: tfl.separable_conv2d(
        IMAGES, 2, (3, 2), strides=(2, 2), depth_multiplier=2, use_bias=False, name="conv"
    ),
    "dense": lambda tfl: tfl.dense(VECTORS, 2),
    "dense_rank_3": lambda tfl: tfl.dense(SERIES, units=2, activation=tf.nn.sigmoid),
    "dropout": lambda tfl: tfl.dropout(VECTORS),
    "flatten": lambda tfl: tfl.flatten(SERIES),
    "flatten_channels_first": lambda tfl: tfl.flatten(SERIES, data_format="channels_first"),
    "max_pooling1d": lambda tfl: tfl.max_pooling1d(SERIES, 2, 2),
    "max_pooling2d": lambda tfl: tfl.max_pooling2d(inputs=IMAGES, pool_size=[2, 2], strides=2),
    "max_pooling3d": lambda tfl: tfl.max_pooling3d(VOLUMES, 2, 1, padding="same"),
    "average_pooling1d": lambda tfl: tfl.average_pooling1d(SERIES, [3], [1], padding="same"),
    "average_pooling1d_first": lambda tfl: tfl.average_pooling1d(
        SERIES, 2, 1, data_format="channels_first"
    ),
    "average_pooling2d": lambda tfl: tfl.average_pooling2d(IMAGES, 3, 2, padding="same"),
    "average_pooling3d": lambda tfl: tfl.average_pooling3d(VOLUMES, 2, 2),
    "batch_normalization": lambda tfl: tfl.batch_normalization(IMAGES),
    "batch_normalization_training": lambda tfl: tfl.batch_normalization(
        IMAGES, momentum=0.9, training=True, gamma_regularizer=penalty
    ),
    "batch_normalization_tensor": lambda tfl: tfl.batch_normalization(
        IMAGES, training=tf.placeholder_with_default(True, [])
    ),
    "batch_normalization_vectors": lambda tfl: tfl.batch_normalization(
        VECTORS, momentum=0.5, training=True, scale=False, name="bn"
    ),
    "batch_normalization_series": lambda tfl: tfl.batch_normalization(SERIES, training=True),
    "batch_normalization_axis": lambda tfl: tfl.batch_normalization(IMAGES, axis=2, training=True),
    "batch_normalization_first": lambda tfl: tfl.batch_normalization(
        SERIES, axis=1, training=True, center=False
    ),
    "batch_normalization_not_fused": lambda tfl: tfl.batch_normalization(
        IMAGES, training=True, fused=False
    ),
    "batch_normalization_not_trained": lambda tfl: tfl.batch_normalization(
        IMAGES, training=True, trainable=False
    ),
    "batch_normalization_renorm": lambda tfl: tfl.batch_normalization(
        IMAGES, training=True, renorm=True, renorm_clipping={"rmax": 1.1, "rmin": 0.9, "dmax": 0.1}
    ),
    "network": network,
    "two_in_scopes": two_in_scopes,
    "shared_by_name": shared_by_name,
    "called_twice": called_twice,
    "arguments_of_the_scope": arguments_of_the_scope,
    "twice_with_auto_reuse": twice_with_auto_reuse,
    "own_layer": own_layer,
}


def made_by(case, tfl):
    """Runs a case: names, shapes, collections, and values for weights that follow from its name."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        outputs = tf.nest.flatten(CASES[case](tfl))
        variables = tf.global_variables()
        for variable in variables:
            value = make_weights(variable.op.name, variable.shape.as_list())
            session.run(variable.initializer, {variable.initializer.inputs[1]: value})
        penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        made = {
            "variables": {v.op.name: v.shape.as_list() for v in variables},
            "trained": [v.op.name for v in tf.trainable_variables()],
            "model_variables": len(tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)),
            "outputs": [each.name for each in outputs],
            "shapes": [each.shape.as_list() for each in outputs],
            "values": [np.ravel(each).tolist() for each in session.run(outputs)],
            "penalties": np.ravel(session.run(penalties)).tolist(),
            "updates": len(updates),
        }
        session.run(updates)
        after = session.run(variables)
    before = [make_weights(name, shape) for name, shape in made["variables"].items()]
    made["updated"] = {
        name: np.ravel(new).tolist()
        for name, old, new in zip(made["variables"], before, after, strict=True)
        if not np.array_equal(old, new)
    }
    return made


def make_weights(name, shape):
    values = np.random.RandomState(zlib.crc32(name.encode())).uniform(0.1, 1.0, size=shape)
    return values.astype(np.float32)


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as table:
        lines = (f'"{case}": {json.dumps(rounded(made_by(case, tf.layers)))}' for case in CASES)
        table.write("{\n" + ",\n".join(lines) + "\n}\n")
