"""Tags words by a bidirectional LSTM with a conditional random field."""

from __future__ import print_function

import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib.crf import crf_log_likelihood, viterbi_decode
from tensorflow.contrib.rnn import LSTMCell

UNITS, WORDS, TAGS, LENGTH = 16, 20, 4, 7


class Tagger(object):
    def __init__(self, vocabulary):
        table = tf.contrib.lookup.index_table_from_file(vocabulary, num_oov_buckets=1)
        self.words = tf.placeholder(tf.string, shape=[None, None], name="words")
        self.tags = tf.placeholder(tf.int32, shape=[None, None], name="tags")
        self.lengths = tf.placeholder(tf.int32, shape=[None], name="lengths")
        with tf.variable_scope("words"):
            embeddings = tf.Variable(
                np.random.RandomState(0).uniform(-0.25, 0.25, (WORDS + 1, UNITS)),
                dtype=tf.float32,
                trainable=True,
                name="embeddings",
            )
            inputs = tf.nn.embedding_lookup(embeddings, table.lookup(self.words))
        with tf.variable_scope("bi-lstm"):
            (forward, backward), _ = tf.nn.bidirectional_dynamic_rnn(
                cell_fw=LSTMCell(UNITS),
                cell_bw=LSTMCell(UNITS),
                inputs=inputs,
                sequence_length=self.lengths,
                dtype=tf.float32,
            )
            output = tf.concat([forward, backward], axis=-1)
        with tf.variable_scope("proj"):
            w = tf.get_variable(
                name="W",
                shape=[2 * UNITS, TAGS],
                initializer=tf.contrib.layers.xavier_initializer(),
                dtype=tf.float32,
            )
            b = tf.get_variable(name="b", shape=[TAGS], initializer=tf.zeros_initializer())
            shape = tf.shape(output)
            pred = tf.matmul(tf.reshape(output, [-1, 2 * UNITS]), w) + b
            self.logits = tf.reshape(pred, [-1, shape[1], TAGS])
        log_likelihood, self.transitions = crf_log_likelihood(
            inputs=self.logits, tag_indices=self.tags, sequence_lengths=self.lengths
        )
        self.loss = -tf.reduce_mean(log_likelihood)
        self.global_step = tf.Variable(0, name="global_step", trainable=False)
        optim = tf.train.AdamOptimizer(learning_rate=0.05)
        grads_and_vars = [
            [tf.clip_by_value(g, -5, 5), v] for g, v in optim.compute_gradients(self.loss)
        ]
        self.train_op = optim.apply_gradients(grads_and_vars, global_step=self.global_step)


def batch(random, size=16):
    """The tag of a word depends on the word and on the tag before it."""
    ids = random.randint(0, WORDS, [size, LENGTH])
    tags = np.cumsum(ids % 3, axis=1) % TAGS
    lengths = random.randint(3, LENGTH + 1, [size])
    words = np.array([["w%d" % i for i in row] for row in ids], dtype=object)
    return words, tags, lengths


def main():
    folder = sys.argv[1]
    if not os.path.isdir(folder):
        os.makedirs(folder)
    vocabulary = os.path.join(folder, "words.txt")
    with open(vocabulary, "w") as f:
        f.write("\n".join("w%d" % i for i in range(WORDS)))
    tf.set_random_seed(2)
    tagger = Tagger(vocabulary)
    saver = tf.train.Saver(tf.global_variables())
    random = np.random.RandomState(1)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        losses = []
        for _ in range(60):
            words, tags, lengths = batch(random)
            _, loss = sess.run(
                [tagger.train_op, tagger.loss],
                feed_dict={tagger.words: words, tagger.tags: tags, tagger.lengths: lengths},
            )
            losses.append(loss)
        saver.save(sess, os.path.join(folder, "tagger"), global_step=tagger.global_step)
        words, tags, lengths = batch(random)
        logits, transitions = sess.run(
            [tagger.logits, tagger.transitions], {tagger.words: words, tagger.lengths: lengths}
        )
    right = total = 0
    for logit, tag, length in zip(logits, tags, lengths):
        sequence, _ = viterbi_decode(logit[:length], transitions)
        right += np.sum(np.array(sequence) == tag[:length])
        total += length
    print("loss %.2f to %.2f" % (losses[0], losses[-1]))
    print("accuracy %.2f" % (float(right) / total))


if __name__ == "__main__":
    main()
