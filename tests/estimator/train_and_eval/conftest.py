"""An estimator that trains nothing, for the tests of this folder."""

import os

from tf_frame.estimator.estimator import Estimator


class FakeEstimator(Estimator):
    """Notes the order of the calls, and has the checkpoints that a test names."""

    def __init__(self, config=None, model_dir="", checkpoints=()):
        self._fake_config = config
        self._fake_dir = str(model_dir)
        self.checkpoints = iter(checkpoints)
        self.events = []

    config = property(lambda self: self._fake_config)
    model_dir = property(lambda self: self._fake_dir)

    def eval_dir(self, name=None):
        return os.path.join(self.model_dir, f"eval_{name}" if name else "eval")

    def latest_checkpoint(self):
        return next(self.checkpoints)

    def train(self, **arguments):
        self.events.append(("train", arguments))

    def evaluate(self, **arguments):
        path = arguments["checkpoint_path"]
        self.events.append(f"evaluate {path}")
        return {"loss": 1.0, "global_step": int(path.rpartition("-")[2])}
