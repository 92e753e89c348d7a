"""Translates numbers to their reverse: encoder, attention, decoder and beam search."""

from __future__ import print_function

import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.layers import core as layers_core

UNITS, VOCAB, LENGTH, BATCH, BEAM = 32, 12, 4, 32, 3
GO, END = 0, 1


class Model(object):
    def __init__(self, mode):
        self.source = tf.placeholder(tf.int32, [None, LENGTH])
        self.target = tf.placeholder(tf.int32, [None, LENGTH + 1])
        batch_size = tf.size(self.source[:, 0])
        embedding = tf.get_variable("embedding", [VOCAB, UNITS])
        with tf.variable_scope("encoder"):
            cells = [tf.contrib.rnn.BasicLSTMCell(UNITS // 2, forget_bias=1.0) for _ in range(2)]
            outputs, states = tf.nn.bidirectional_dynamic_rnn(
                cells[0], cells[1], tf.nn.embedding_lookup(embedding, self.source), dtype=tf.float32
            )
            memory = tf.concat(outputs, -1)
        lengths = tf.fill([batch_size], LENGTH)
        start = tf.contrib.rnn.LSTMStateTuple(
            tf.concat([states[0].c, states[1].c], -1), tf.concat([states[0].h, states[1].h], -1)
        )
        width = BEAM if mode == "beam" else 1
        with tf.variable_scope("decoder") as scope:
            if width > 1:
                memory, start, lengths = [
                    tf.contrib.seq2seq.tile_batch(x, multiplier=BEAM)
                    for x in (memory, start, lengths)
                ]
            mechanism = tf.contrib.seq2seq.LuongAttention(
                UNITS, memory, memory_sequence_length=lengths, scale=True
            )
            cell = tf.contrib.rnn.DropoutWrapper(
                tf.nn.rnn_cell.LSTMCell(UNITS), input_keep_prob=1.0 if mode != "train" else 0.9
            )
            cell = tf.contrib.seq2seq.AttentionWrapper(
                cell, mechanism, attention_layer_size=UNITS, name="attention"
            )
            start = cell.zero_state(batch_size * width, tf.float32).clone(cell_state=start)
            output_layer = layers_core.Dense(VOCAB, use_bias=False, name="output_projection")
            if mode == "train":
                go = tf.fill([batch_size, 1], GO)
                inputs = tf.concat([go, self.target[:, :-1]], 1)
                helper = tf.contrib.seq2seq.TrainingHelper(
                    tf.nn.embedding_lookup(embedding, inputs), tf.fill([batch_size], LENGTH + 1)
                )
                decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, start, output_layer)
                outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(
                    decoder, swap_memory=True, scope=scope
                )
                self.loss = tf.contrib.seq2seq.sequence_loss(
                    outputs.rnn_output, self.target, tf.ones_like(self.target, tf.float32)
                )
                self.train_op = tf.contrib.layers.optimize_loss(
                    self.loss,
                    tf.train.get_or_create_global_step(),
                    0.01,
                    "Adam",
                    clip_gradients=5.0,
                )
                return
            starts = tf.fill([batch_size], GO)
            if mode == "greedy":
                helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(embedding, starts, END)
                decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, start, output_layer)
            else:
                decoder = tf.contrib.seq2seq.BeamSearchDecoder(
                    cell=cell,
                    embedding=embedding,
                    start_tokens=starts,
                    end_token=END,
                    initial_state=start,
                    beam_width=BEAM,
                    output_layer=output_layer,
                )
            outputs, _, _ = tf.contrib.seq2seq.dynamic_decode(
                decoder, maximum_iterations=2 * LENGTH, scope=scope
            )
            self.words = outputs.sample_id if mode == "greedy" else outputs.predicted_ids[:, :, 0]


def batch(random, size):
    source = random.randint(2, VOCAB, [size, LENGTH])
    return source, np.concatenate([source[:, ::-1], np.full([size, 1], END)], 1)


def train(path, steps):
    random = np.random.RandomState(0)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        model = Model("train")
        saver = tf.train.Saver(max_to_keep=1)
        sess.run(tf.global_variables_initializer())
        losses = []
        for _ in range(steps):
            source, target = batch(random, BATCH)
            loss, _ = sess.run(
                [model.loss, model.train_op], {model.source: source, model.target: target}
            )
            losses.append(loss)
        saver.save(sess, path, global_step=steps)
    return losses


def infer(folder, mode):
    source, target = batch(np.random.RandomState(1), 8)
    with tf.Graph().as_default(), tf.Session() as sess:
        model = Model(mode)
        tf.train.Saver().restore(sess, tf.train.latest_checkpoint(folder))
        words = sess.run(model.words, {model.source: source})
    return np.mean(words[:, :LENGTH] == target[:, :LENGTH])


def main():
    folder = sys.argv[1]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    if not os.path.isdir(folder):
        os.makedirs(folder)
    losses = train(os.path.join(folder, "translate.ckpt"), steps)
    print("loss %.2f to %.2f" % (losses[0], losses[-1]))
    print("greedy %.2f beam %.2f" % (infer(folder, "greedy"), infer(folder, "beam")))


if __name__ == "__main__":
    main()
