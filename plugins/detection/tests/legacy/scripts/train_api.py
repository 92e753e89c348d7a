"""Trains by the Object Detection API's trainer, as its legacy/train.py, with a dictionary."""

import fake_detector
import tensorflow.compat.v1 as tf

from tf_frame.legacy import quantize
from tf_frame_detection.legacy import trainer

flags = tf.app.flags
flags.DEFINE_string("train_dir", "", "Directory to save the checkpoints and training summaries.")
flags.DEFINE_string("fine_tune_checkpoint", "", "Checkpoint to restore variables from.")
flags.DEFINE_integer("num_clones", 1, "Number of clones to deploy per worker.")
FLAGS = flags.FLAGS


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


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    assert FLAGS.train_dir, "`train_dir` is missing."
    tf.gfile.MakeDirs(FLAGS.train_dir)
    trainer.train(
        fake_detector.create_tensor_dict,
        lambda: fake_detector.FakeDetector(fake_detector.NUM_CLASSES),
        {**TRAIN_CONFIG, "fine_tune_checkpoint": FLAGS.fine_tune_checkpoint},
        "",
        0,
        FLAGS.num_clones,
        1,
        True,
        0,
        "lonely_worker",
        True,
        FLAGS.train_dir,
        graph_hook_fn=quantize.create_training_graph,
    )


if __name__ == "__main__":
    tf.app.run()
