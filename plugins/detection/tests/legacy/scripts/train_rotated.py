"""Trains rotated boxes by the fork of the API's trainer, with plain objects for protos."""

import argparse
import functools
import types

import fake_detector
import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy import rotated_trainer as trainer

parser = argparse.ArgumentParser()
parser.add_argument("--train_dir", required=True, help="folder of checkpoints and summaries")


def swap_height_width_of_rboxes(rboxes):
    row, column, height, width, angle = tf.unstack(rboxes, axis=1)
    return tf.stack([row, column, width, height, angle], axis=1)


class RmsProp:
    learning_rate = types.SimpleNamespace(
        exponential_decay_learning_rate=types.SimpleNamespace(initial_learning_rate=0.001)
    )


def main():
    tf.logging.set_verbosity(tf.logging.INFO)
    train_config = types.SimpleNamespace(
        batch_size=2,
        num_steps=2,
        optimizer=types.SimpleNamespace(rms_prop_optimizer=RmsProp, use_moving_average=False),
        freeze_variables=["FeatureExtractor/Conv/BatchNorm"],
    )
    input_config = types.SimpleNamespace(
        preprocess_input_options=[(swap_height_width_of_rboxes, {})]
    )
    trainer.train(
        functools.partial(fake_detector.create_tensor_dict, box_size=5),
        lambda: fake_detector.FakeRotatedDetector(fake_detector.NUM_CLASSES),
        train_config,
        input_config,
        "",
        0,
        1,
        1,
        True,
        0,
        "lonely_worker",
        True,
        parser.parse_args().train_dir,
        save_interval_secs=600,
        log_every_n_steps=1,
    )


if __name__ == "__main__":
    main()
