"""A reader of words in Keras, as its user would write it; for `recognition.py`, or by itself.

    python tools/bench/recognition_keras.py --seconds 180 --seed 1

Four convolutions of 16 to 128 channels with batch norm, a bidirectional LSTM of 96 units, CTC by
TensorFlow's own kernel, Adam with a cosine from 3e-3; 433,499 parameters with the moving
statistics. The data are the very same `tf.data` pipeline as those of tf-frame.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from contenders import TrainingTurns, answer
from recognition import ENDLESS, make_setup

from tf_frame import InputContext, Mode

keras = tf.keras
layers = keras.layers
# Channels, and the pooling of height and width.
CONVOLUTIONS = ((16, (2, 2)), (48, (2, 2)), (96, (2, 1)), (128, (2, 1)))
LSTM_UNITS = 96
LEARNING_RATE = 3e-3
BATCH_SIZE = 32
PARAMETERS = 433_499


def make_network(num_characters: int) -> Any:
    """The network: an image of 32 x 160 becomes logits `[batch, 40, num_characters + 1]`."""
    image = keras.Input([32, 160, 1])
    net = layers.Rescaling(2 / 255, -1)(image)
    for channels, pooling in CONVOLUTIONS:
        net = layers.Conv2D(channels, 3, padding="same", use_bias=False)(net)
        net = layers.ReLU()(layers.BatchNormalization()(net))
        net = layers.MaxPooling2D(pooling)(net)
    _, height, width, channels = net.shape
    net = layers.Reshape([width, height * channels])(layers.Permute([2, 1, 3])(net))
    net = layers.Bidirectional(layers.LSTM(LSTM_UNITS, return_sequences=True))(net)
    network = keras.Model(image, layers.Dense(num_characters + 1)(net))
    if network.count_params() != PARAMETERS:
        raise SystemExit(f"the network has {network.count_params()} parameters, not {PARAMETERS}")
    return network


def ctc_loss(text: Any, logits: Any) -> Any:
    """The loss of each word; the blank is the last class.

    Args:
      text: `[batch, max_length]`, -1 behind the end.
      logits: those of the network.
    """
    characters = tf.sparse.from_dense(tf.cast(text, tf.int32) + 1)
    labels = tf.SparseTensor(
        characters.indices, characters.values - 1, tf.cast(tf.shape(text), tf.int64)
    )
    # TensorFlow's kernel is of sparse labels; dense ones get a slower loop of operations.
    return tf.nn.ctc_loss(
        labels, logits, None, positions(logits), logits_time_major=False, blank_index=-1
    )


def positions(logits: Any) -> Any:
    """The number of positions of each image."""
    return tf.fill([tf.shape(logits)[0]], tf.shape(logits)[1])


class Turns(keras.callbacks.Callback):
    """Trains in turns."""

    def on_train_begin(self, logs: Any = None) -> None:
        self.turns = TrainingTurns()
        self.turns.begin()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.turns.step()
        self.model.stop_training = not self.turns.goes_on


class Budget(keras.callbacks.Callback):
    """Trains for some seconds, over which the learning rate falls along a cosine.

    Args:
      seconds: the time, from the call of `fit` on.

    Attributes:
      steps: steps that were made.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds, self.steps = seconds, 0

    def on_train_begin(self, logs: Any = None) -> None:
        self._began = time.perf_counter()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        share = min((time.perf_counter() - self._began) / self._seconds, 1.0)
        self.model.optimizer.learning_rate = LEARNING_RATE * (1 + math.cos(math.pi * share)) / 2

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.steps += 1
        self.model.stop_training = time.perf_counter() - self._began >= self._seconds


def fit(network: Any, source: Any, learning_rate: Any, callback: Any, seed: int = 1) -> None:
    """Trains until the callback ends it."""
    batches = source.dataset(Mode.TRAIN, InputContext(batch_size=BATCH_SIZE, seed=seed))
    batches = batches.map(lambda features, labels: (features["image"], labels["text"]))
    network.compile(keras.optimizers.Adam(learning_rate), ctc_loss, jit_compile=False)
    network.fit(
        batches.prefetch(tf.data.AUTOTUNE),
        steps_per_epoch=ENDLESS,
        verbose=0,
        shuffle=False,
        callbacks=[callback],
    )


def word_accuracy(network: Any, source: Any) -> float:
    """The share of the evaluation strings that are read without an error."""
    right = []
    for features, labels in source.dataset(Mode.EVAL, InputContext(batch_size=50)):
        logits = network(features["image"], training=False)
        (read,), _ = tf.nn.ctc_greedy_decoder(tf.transpose(logits, [1, 0, 2]), positions(logits))
        read = tf.sparse.to_dense(read, default_value=-1)
        wanted = tf.cast(labels["text"], tf.int64)
        missing = tf.shape(logits)[1] - [tf.shape(read)[1], tf.shape(wanted)[1]]
        read = tf.pad(read, [[0, 0], [0, missing[0]]], constant_values=-1)
        wanted = tf.pad(wanted, [[0, 0], [0, missing[1]]], constant_values=-1)
        right += tf.reduce_all(read == wanted, axis=1).numpy().tolist()
    return sum(right) / len(right)


def main() -> None:
    """Trains and evaluates, or trains in turns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=180, help="time of the training")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    argv = parser.parse_args()
    keras.utils.set_random_seed(argv.seed)
    source = make_setup().make_input()
    network = make_network(source.info.num_classes)
    if argv.worker:
        schedule = keras.optimizers.schedules.CosineDecay(LEARNING_RATE, ENDLESS)
        fit(network, source, schedule, Turns())
        answer(sum(each.shape.num_elements() for each in network.trainable_weights))
        return
    budget = Budget(argv.seconds)
    fit(network, source, LEARNING_RATE, budget, argv.seed)
    accuracy = word_accuracy(network, source)
    print(f"word_accuracy {accuracy:.3f}  steps {budget.steps}  training_secs {argv.seconds:.0f}")


if __name__ == "__main__":
    main()
