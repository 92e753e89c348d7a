"""One task of a job that trains one weight; TF_CONFIG says which.

python cluster_task.py MODEL_DIR MAX_STEPS

Training also ends once a worker has trained a step, which is noted in a file.
"""

import logging
import sys
from pathlib import Path

import tensorflow.compat.v1 as tf

from tf_frame.estimator.early_stopping import make_early_stopping_hook
from tf_frame.estimator.estimator import Estimator
from tf_frame.estimator.exporters import FinalExporter, LatestExporter
from tf_frame.estimator.run_config.run_config import RunConfig
from tf_frame.estimator.train_and_eval.executor import train_and_evaluate
from tf_frame.estimator.train_and_eval.specs import EvalSpec, TrainSpec
from tf_frame.testing.one_weight import batches, input_fn, model_fn, serving_input_receiver_fn


class NoteStep(tf.train.SessionRunHook):
    """Notes that a step was trained."""

    def __init__(self, path):
        self.path = path

    def after_run(self, run_context, run_values):
        self.path.touch()


def main(model_dir, max_steps):
    config = RunConfig(model_dir, save_checkpoints_steps=5, experimental_max_worker_delay_secs=0)
    if config.num_ps_replicas:
        config = config.replace(save_checkpoints_secs=600)
    exporters = [
        FinalExporter("final", serving_input_receiver_fn),
        LatestExporter("latest", serving_input_receiver_fn),
    ]
    estimator = Estimator(model_fn, config=config)
    noted = Path(model_dir) / "worker-has-trained"
    hooks = [] if config.is_chief else [NoteStep(noted)]
    hooks += [make_early_stopping_hook(estimator, noted.exists, None, 10)]
    result = train_and_evaluate(
        estimator,
        TrainSpec(input_fn, max_steps=max_steps, hooks=hooks),
        EvalSpec(batches, exporters=exporters, start_delay_secs=0, throttle_secs=0),
    )
    print("result:", result, flush=True)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    main(sys.argv[1], int(sys.argv[2]))
