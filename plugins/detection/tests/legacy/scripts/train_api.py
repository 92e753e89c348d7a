"""Trains by the Object Detection API's trainer, as its legacy/train.py, with a dictionary."""

import argparse

import fake_detector
import tensorflow.compat.v1 as tf

from tf_frame.legacy import quantize
from tf_frame_detection.legacy import trainer

parser = argparse.ArgumentParser()
parser.add_argument("--train_dir", required=True, help="folder of checkpoints and summaries")
parser.add_argument("--fine_tune_checkpoint", help="checkpoint to restore variables from")
parser.add_argument("--num_clones", type=int, default=1, help="number of clones")
parser.add_argument("--quantize", type=int, default=0, help="whether to round to 8 bits")


def flip(image, boxes):
    upper, left, lower, right = tf.unstack(boxes, axis=1)
    return tf.image.flip_left_right(image), tf.stack([upper, 1 - right, lower, 1 - left], axis=1)


TRAIN_CONFIG = {
    "batch_size": 4,
    "num_steps": 2,
    "optimizer": {
        "momentum_optimizer": {
            "learning_rate": {
                "manual_step_learning_rate": {
                    "initial_learning_rate": 0.01,
                    "schedule": [{"step": 1, "learning_rate": 0.001}],
                }
            }
        },
        "use_moving_average": True,
    },
    "data_augmentation_options": [(flip, {})],
    "gradient_clipping_by_norm": 10.0,
    "bias_grad_multiplier": 2.0,
}


def main():
    flags = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.gfile.MakeDirs(flags.train_dir)
    trainer.train(
        fake_detector.create_tensor_dict,
        lambda: fake_detector.FakeDetector(fake_detector.NUM_CLASSES),
        {**TRAIN_CONFIG, "fine_tune_checkpoint": flags.fine_tune_checkpoint},
        "",
        0,
        flags.num_clones,
        1,
        True,
        0,
        "lonely_worker",
        True,
        flags.train_dir,
        graph_hook_fn=quantize.create_training_graph if flags.quantize else None,
    )


if __name__ == "__main__":
    main()
