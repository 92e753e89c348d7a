"""Fine-tunes a small BERT on sentences of numbers, in the style of its first release."""

from __future__ import absolute_import, division, print_function

import collections
import os
import re
import sys

import numpy as np
import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_bool("use_tpu", False, "Whether to use a TPU.")
flags.DEFINE_integer("num_train_steps", 20, "Steps.")
flags.DEFINE_integer("iterations_per_loop", 10, "Steps of a loop on the TPU.")
if FLAGS.use_tpu:
    raise ValueError("no TPU here")

VOCAB, WIDTH, HEADS, LAYERS, LENGTH = 32, 16, 2, 1, 8


def gelu(x):
    return x * 0.5 * (1.0 + tf.erf(x / tf.sqrt(2.0)))


def layer_norm(x, name=None):
    return tf.contrib.layers.layer_norm(
        inputs=x, begin_norm_axis=-1, begin_params_axis=-1, scope=name
    )


def create_initializer(initializer_range=0.02):
    return tf.truncated_normal_initializer(stddev=initializer_range)


def get_shape_list(tensor, expected_rank=None):
    if expected_rank is not None and tensor.shape.ndims != expected_rank:
        raise ValueError("wrong rank")
    shape = tensor.shape.as_list()
    dynamic = tf.shape(tensor)
    return [dynamic[i] if size is None else size for i, size in enumerate(shape)]


def attention_layer(x, mask, batch_size):
    def heads(name):
        y = tf.layers.dense(x, WIDTH, name=name, kernel_initializer=create_initializer())
        y = tf.reshape(y, [batch_size, LENGTH, HEADS, WIDTH // HEADS])
        return tf.transpose(y, [0, 2, 1, 3])

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = tf.matmul(query, key, transpose_b=True) / np.sqrt(WIDTH // HEADS)
    scores += (1.0 - tf.cast(mask[:, None, None, :], tf.float32)) * -10000.0
    probs = tf.nn.dropout(tf.nn.softmax(scores), keep_prob=0.9)
    context = tf.transpose(tf.matmul(probs, value), [0, 2, 1, 3])
    return tf.reshape(context, [batch_size * LENGTH, WIDTH])


def bert(input_ids, mask):
    batch_size = get_shape_list(input_ids, expected_rank=2)[0]
    with tf.variable_scope("bert"):
        with tf.variable_scope("embeddings"):
            table = tf.get_variable(
                "word_embeddings", [VOCAB, WIDTH], initializer=create_initializer()
            )
            positions = tf.get_variable(
                "position_embeddings", [LENGTH, WIDTH], initializer=create_initializer()
            )
            x = tf.gather(table, input_ids) + positions
            x = layer_norm(x)
        x = tf.reshape(x, [-1, WIDTH])
        with tf.variable_scope("encoder"):
            for index in range(LAYERS):
                with tf.variable_scope("layer_%d" % index):
                    with tf.variable_scope("attention"):
                        with tf.variable_scope("self"):
                            context = attention_layer(x, mask, batch_size)
                        with tf.variable_scope("output"):
                            y = tf.layers.dense(
                                context, WIDTH, kernel_initializer=create_initializer()
                            )
                            x = layer_norm(x + y)
                    with tf.variable_scope("intermediate"):
                        y = tf.layers.dense(
                            x, 2 * WIDTH, activation=gelu, kernel_initializer=create_initializer()
                        )
                    with tf.variable_scope("output"):
                        y = tf.layers.dense(y, WIDTH, kernel_initializer=create_initializer())
                        x = layer_norm(x + y)
        with tf.variable_scope("pooler"):
            first = tf.reshape(x, [batch_size, LENGTH, WIDTH])[:, 0]
            pooled = tf.layers.dense(
                first, WIDTH, activation=tf.tanh, kernel_initializer=create_initializer()
            )
    return table, pooled


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    """Adam with decoupled weight decay, and without bias correction."""

    def __init__(self, learning_rate, weight_decay_rate=0.01, name="AdamWeightDecayOptimizer"):
        super(AdamWeightDecayOptimizer, self).__init__(False, name)
        self.learning_rate = learning_rate
        self.weight_decay_rate = weight_decay_rate

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for grad, param in grads_and_vars:
            if grad is None or param is None:
                continue
            param_name = re.match("^(.*):\\d+$", param.name).group(1)
            m, v = [
                tf.get_variable(
                    name=param_name + slot,
                    shape=param.shape.as_list(),
                    dtype=tf.float32,
                    trainable=False,
                    initializer=tf.zeros_initializer(),
                )
                for slot in ("/adam_m", "/adam_v")
            ]
            next_m = tf.multiply(0.9, m) + tf.multiply(0.1, grad)
            next_v = tf.multiply(0.999, v) + tf.multiply(0.001, tf.square(grad))
            update = next_m / (tf.sqrt(next_v) + 1e-6)
            if "bias" not in param_name and "LayerNorm" not in param_name:
                update += self.weight_decay_rate * param
            assignments.extend(
                [
                    param.assign(param - self.learning_rate * update),
                    m.assign(next_m),
                    v.assign(next_v),
                ]
            )
        return tf.group(*assignments, name=name)


def create_optimizer(loss, init_lr, num_train_steps):
    global_step = tf.train.get_or_create_global_step()
    learning_rate = tf.train.polynomial_decay(
        tf.constant(init_lr), global_step, num_train_steps, end_learning_rate=0.0, power=1.0
    )
    optimizer = AdamWeightDecayOptimizer(learning_rate)
    if FLAGS.use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    tvars = tf.trainable_variables()
    grads, _ = tf.clip_by_global_norm(tf.gradients(loss, tvars), clip_norm=1.0)
    train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
    return tf.group(train_op, [global_step.assign(global_step + 1)])


def get_assignment_map(tvars, init_checkpoint):
    names = collections.OrderedDict((re.match("^(.*):\\d+$", v.name).group(1), v) for v in tvars)
    initialized = {}
    assignment_map = collections.OrderedDict()
    for name, _ in tf.train.list_variables(init_checkpoint):
        if name in names:
            assignment_map[name] = name
            initialized[name + ":0"] = 1
    return assignment_map, initialized


def model_fn_builder(init_checkpoint, num_train_steps):
    def model_fn(features, labels, mode, params):
        print("batch size", params["batch_size"])
        _, pooled = bert(features["input_ids"], features["input_mask"])
        weights = tf.get_variable("output_weights", [2, WIDTH], initializer=create_initializer())
        bias = tf.get_variable("output_bias", [2], initializer=tf.zeros_initializer())
        if mode == tf.estimator.ModeKeys.TRAIN:
            pooled = tf.nn.dropout(pooled, keep_prob=0.9)
        logits = tf.nn.bias_add(tf.matmul(pooled, weights, transpose_b=True), bias)
        log_probs = tf.nn.log_softmax(logits, axis=-1)
        one_hot = tf.one_hot(features["label_ids"], depth=2)
        per_example_loss = -tf.reduce_sum(one_hot * log_probs, axis=-1)
        loss = tf.reduce_mean(per_example_loss)

        scaffold_fn = None
        if init_checkpoint:
            assignment_map, initialized = get_assignment_map(
                tf.trainable_variables(), init_checkpoint
            )
            print("restored", len(initialized))
            tf.train.init_from_checkpoint(init_checkpoint, assignment_map)
        if mode == tf.estimator.ModeKeys.TRAIN:
            train_op = create_optimizer(loss, 0.01, num_train_steps)
            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode, loss=loss, train_op=train_op, scaffold_fn=scaffold_fn
            )
        if mode == tf.estimator.ModeKeys.EVAL:

            def metric_fn(per_example_loss, label_ids, logits):
                predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
                return {
                    "eval_accuracy": tf.metrics.accuracy(labels=label_ids, predictions=predictions),
                    "eval_loss": tf.metrics.mean(values=per_example_loss),
                }

            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode,
                loss=loss,
                scaffold_fn=scaffold_fn,
                eval_metrics=(metric_fn, [per_example_loss, features["label_ids"], logits]),
            )
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode=mode, predictions={"probabilities": tf.exp(log_probs)}, scaffold_fn=scaffold_fn
        )

    return model_fn


def file_based_input_fn_builder(input_file, is_training):
    name_to_features = {
        "input_ids": tf.FixedLenFeature([LENGTH], tf.int64),
        "input_mask": tf.FixedLenFeature([LENGTH], tf.int64),
        "label_ids": tf.FixedLenFeature([], tf.int64),
    }

    def decode(record):
        example = tf.parse_single_example(record, name_to_features)
        return {name: tf.to_int32(t) for name, t in example.items()}

    def input_fn(params):
        d = tf.data.TFRecordDataset(input_file)
        if is_training:
            d = d.repeat()
            d = d.shuffle(buffer_size=100)
        return d.apply(
            tf.contrib.data.map_and_batch(
                decode, batch_size=params["batch_size"], drop_remainder=is_training
            )
        )

    return input_fn


def write_examples(path, count):
    """Sentences of numbers; the label says whether there are more high ones."""
    random = np.random.RandomState(0)
    writer = tf.python_io.TFRecordWriter(path)
    for _ in range(count):
        label = random.randint(2)
        ids = random.randint(0, 16, LENGTH) + 16 * label
        feature = collections.OrderedDict()
        for name, values in (
            ("input_ids", ids),
            ("input_mask", [1] * LENGTH),
            ("label_ids", [label]),
        ):
            feature[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=list(values)))
        writer.write(
            tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
        )
    writer.close()


def write_pretrained(path):
    with tf.Graph().as_default(), tf.Session() as sess:
        bert(tf.zeros([2, LENGTH], tf.int32), tf.ones([2, LENGTH], tf.int32))
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, path)


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    folder = sys.argv[1]
    tf.gfile.MakeDirs(folder)
    data = os.path.join(folder, "train.tf_record")
    write_examples(data, 64)
    checkpoint = os.path.join(folder, "pretrained", "bert_model.ckpt")
    tf.gfile.MakeDirs(os.path.dirname(checkpoint))
    write_pretrained(checkpoint)
    run_config = tf.contrib.tpu.RunConfig(
        cluster=None,
        master=None,
        model_dir=os.path.join(folder, "out"),
        save_checkpoints_steps=10,
        tpu_config=tf.contrib.tpu.TPUConfig(
            iterations_per_loop=FLAGS.iterations_per_loop,
            num_shards=8,
            per_host_input_for_training=tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2,
        ),
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        use_tpu=FLAGS.use_tpu,
        model_fn=model_fn_builder(checkpoint, FLAGS.num_train_steps),
        config=run_config,
        train_batch_size=16,
        eval_batch_size=8,
        predict_batch_size=4,
    )
    estimator.train(
        input_fn=file_based_input_fn_builder(data, True), max_steps=FLAGS.num_train_steps
    )
    result = estimator.evaluate(input_fn=file_based_input_fn_builder(data, False), steps=None)
    predictions = list(estimator.predict(input_fn=file_based_input_fn_builder(data, False)))
    print("accuracy %.2f of %d" % (result["eval_accuracy"], len(predictions)))
    print("step", result["global_step"], predictions[0]["probabilities"].shape)


if __name__ == "__main__":
    tf.app.run()
