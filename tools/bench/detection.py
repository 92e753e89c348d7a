"""Measures `tf-frame run --plugin detection` beside a detector of Keras.

    python tools/bench/detection.py [--turns 7] [--step_secs 10] [--write]

Training steps/s, and images/s of inference with non-maximum suppression on batches of 1 and 8, of
the default model and of one that is the same in Keras (`detection_keras.py`): layers, anchors,
losses, optimizer, moving averages, batch size and the very same `tf.data` pipeline. In Keras there
are no logits of the background, suppression is TensorFlow's kernel, and boxes do not vote; it runs
without XLA.
tf-frame infers by the SavedModel of `tf-frame export`, Keras by a `tf.function`.

Each has a process of its own; they take turns, so that a busy machine slows both. A ratio is that
of two neighbouring turns, and the table has medians; the first turn of each is to warm up.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from contenders import Ask, TrainingTurns, answer, contender, infer_in_turns, rates_text
from figure_file import write_table

from tf_frame import InputContext, Mode
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples

COMMANDS = {
    "tf-frame": [sys.executable, __file__, "--worker"],
    "Keras": [sys.executable, str(Path(__file__).with_name("detection_keras.py"))],
}
BATCH_SIZES = (1, 8)
# More steps than there is time for, but not the averages of a long run.
_ENDLESS = 10**6


def make_setup(model_dir: str = "") -> Any:
    """The setup of a run with the plugin's defaults."""
    from tf_frame.command_line.parsing import parse_command_line

    argv = ["--plugin", "detection", "--model_dir", model_dir, "--max_steps", str(_ENDLESS)]
    return parse_command_line(argv).setup()


def validation_images(source: Any) -> Any:
    """As many validation images as the largest batch has, `[count, height, width, 3]`."""
    batches = source.dataset(Mode.EVAL, InputContext(batch_size=max(BATCH_SIZES)))
    features, _ = next(iter(batches.as_numpy_iterator()))
    return features["image"]


class TurnsHook(Hook):
    """Trains in turns, and stops after the last one."""

    phase = Phase.STOP

    def __init__(self) -> None:
        super().__init__(Multiples(1))
        self._turns = TrainingTurns()

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        variables = session.graph.get_collection("trainable_variables")
        self.parameters = sum(each.shape.num_elements() for each in variables)
        self._turns.begin()

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._turns.step()
        if not self._turns.goes_on:
            run_context.request_stop()


def work() -> None:
    """Trains, exports and infers with tf-frame, as the questions say."""
    with tempfile.TemporaryDirectory() as folder:
        setup = make_setup(os.path.join(folder, "run"))
        os.mkdir(setup.model_dir)
        source = setup.make_input()
        parameters = train(setup, source)
        call = exported(setup.model_dir, os.path.join(folder, "export"))
        answer(parameters)
        infer_in_turns(call, validation_images(source))


def train(setup: Any, source: Any) -> int:
    """Trains in turns; returns the number of parameters."""
    from tf_frame.cluster import Cluster
    from tf_frame.runs.setup.run_context import RunContext, RunObserver
    from tf_frame.runs.training.training import Training

    hook = TurnsHook()
    context = RunContext(observer=RunObserver(), cluster=Cluster(), hooks=[hook])
    model = setup.make_model(source.info)
    Training(setup, context, model=model, source=source).run()
    return hook.parameters


def exported(model_dir: str, output: str) -> Any:
    """Exports a run; returns the function of its SavedModel."""
    import tensorflow as tf

    from tf_frame.cli.main import main as tf_frame

    words = ["--format", "saved_model", "--freeze", "--serve", "features", "--output", output]
    if tf_frame(["export", model_dir, *words]):
        raise SystemExit("tf-frame export failed")
    (name,) = os.listdir(output)
    loaded = tf.saved_model.load(os.path.join(output, name))
    signature = loaded.signatures["serving_default"]
    # The signature does not keep what it is of.
    return lambda images, _=loaded: signature(image=tf.constant(images))


def measure(label: str, asks: Mapping[str, Ask], question: str, turns: int) -> list[str]:
    """Asks for turns, prints a row with the medians and their ratio, and returns its cells."""
    for ask in asks.values():
        ask(question)
    figures: dict[str, list[float]] = {name: [] for name in asks}
    for _ in range(turns):
        for name, ask in asks.items():
            figures[name] += ask(question)
    text = rates_text(*figures.values())
    print(f"{label:<28}{text}", flush=True)
    ours, others, *ratio = text.split()
    return [label, ours, others, " ".join(ratio)]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=7, help="turns of each that count")
    parser.add_argument("--step_secs", type=float, default=10, help="seconds of a turn")
    parser.add_argument("--write", action="store_true", help="write docs/figures/detection.json")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    argv = parser.parse_args()
    if argv.worker:
        work()
        return
    with contextlib.ExitStack() as stack:
        asks = {name: stack.enter_context(contender(words)) for name, words in COMMANDS.items()}
        print(f"{'':<28}{'tf-frame':>10}{'Keras':>10}    ratio   (95 % interval)")
        rows = [measure("training, steps/s", asks, f"train {argv.step_secs}", argv.turns)]
        parameters = [ask("stop")[0] for ask in asks.values()]
        for size in BATCH_SIZES:
            label = f"inference of {size}, images/s"
            rows.append(measure(label, asks, f"infer {size} {argv.step_secs}", argv.turns))
        print(f"{'parameters':<28}" + "".join(f"{count:>10.0f}" for count in parameters))
    if argv.write:
        write_table(["", *COMMANDS, "ratio"], rows, code=["plugins/detection/src"])


if __name__ == "__main__":
    main()
