"""Trains by the Object Detection API's trainer, as its legacy/train.py, with a dictionary.

As there, TF_CONFIG makes it a task of a job of `master`, `worker` and `ps`.
"""

import argparse
import json
import os

import fake_detector
import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy import trainer
from tf_frame_legacy import quantize
from tf_frame_legacy.server import Server

parser = argparse.ArgumentParser()
parser.add_argument("--train_dir", required=True, help="folder of checkpoints and summaries")
parser.add_argument("--fine_tune_checkpoint", help="checkpoint to restore variables from")
parser.add_argument("--num_clones", type=int, default=1, help="number of clones")
parser.add_argument("--quantize", type=int, default=0, help="whether to round to 8 bits")
parser.add_argument("--num_steps", type=int, default=2, help="number of steps")
parser.add_argument("--replicas", type=int, default=0, help="synchronous replicas; 0: none")


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


def job():
    """The trainer's arguments about this process; None for a parameter server, at its end."""
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if not config:
        return {
            **{"master": "", "task": 0, "worker_replicas": 1, "ps_tasks": 0, "is_chief": True},
            "worker_job_name": "lonely_worker",
        }
    cluster, task = config["cluster"], config["task"]
    server = Server(tf.train.ClusterSpec(cluster), job_name=task["type"], task_index=task["index"])
    if task["type"] == "ps":
        server.join()
        return None
    return {
        "master": server.target,
        "task": task["index"],
        "worker_replicas": len(cluster["worker"]) + 1,
        "ps_tasks": len(cluster["ps"]),
        "is_chief": task["type"] == "master",
        "worker_job_name": f"{task['type']}/task:{task['index']}",
    }


def main():
    flags = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.gfile.MakeDirs(flags.train_dir)
    config = {
        **TRAIN_CONFIG,
        "fine_tune_checkpoint": flags.fine_tune_checkpoint,
        "num_steps": flags.num_steps,
    }
    if flags.replicas:
        config |= {"sync_replicas": True, "replicas_to_aggregate": flags.replicas}
    deployed = job()
    if deployed is None:
        return
    trainer.train(
        fake_detector.create_tensor_dict,
        lambda: fake_detector.FakeDetector(fake_detector.NUM_CLASSES),
        config,
        num_clones=flags.num_clones,
        clone_on_cpu=True,
        train_dir=flags.train_dir,
        graph_hook_fn=quantize.create_training_graph if flags.quantize else None,
        **deployed,
    )


if __name__ == "__main__":
    main()
