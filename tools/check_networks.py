"""Trains, evaluates and exports every installed network for a few steps, on a CPU.

    python tools/check_networks.py
    python tools/check_networks.py --only resnet_v1_50,my_network --image_size 64

It finds networks that a change, or a new TensorFlow, has broken: the default tests leave large ones
out. Each network is a run of its own in a fresh folder: `tf-frame run --plugin
classification --model.name NETWORK`, then `tf-frame export`, which compares
the outputs of what it wrote with the model's. Networks that need a larger
image than `--image_size` get their own. Exit code 1 if one of them fails.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
import time

from absl import app, flags

from tf_frame.plugin.find import PluginInfo, find_plugins
from tf_frame.plugin.kinds import NETWORK
from tf_frame.plugin.load import load_plugin_info

_STEPS = flags.DEFINE_integer("steps", 2, "training steps", lower_bound=1)
_BATCH = flags.DEFINE_integer("batch_size", 2, "examples in a batch", lower_bound=1)
_SIZE = flags.DEFINE_integer("image_size", 0, "pixels; 0: the network's own", lower_bound=0)
_FULL = flags.DEFINE_list("full_size", "alexnet_v2,vgg_a,vgg_16,vgg_19", "always at their own size")
_ONLY = flags.DEFINE_list("only", [], "networks; none: all that are installed")
_LINE = "{:<22}{:>6}{:>10}{:>10}{:>10}  {}"


def main(argv: list[str]) -> None:
    """Checks the networks one after the other."""
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument {argv[1]}")
    print(_LINE.format("network", "size", "loss", "run s", "export s", ""))
    found = [f for f in find_plugins() if f.kind == NETWORK]
    failed = [f.name for f in found if f.name in (_ONLY.value or [f.name]) and not _check(f)]
    if failed:
        sys.exit(f"{len(failed)} failed: {', '.join(failed)}")


def _check(found: PluginInfo) -> bool:
    """Runs one network and prints its line."""
    network = load_plugin_info(found).cls
    own = not _SIZE.value or found.name in _FULL.value
    size = network.default_image_size if own else _SIZE.value
    with tempfile.TemporaryDirectory() as folder:
        run, run_secs = _tf_frame(
            "run", "--plugin=classification", f"--model.name={found.name}",
            f"--input.image_size={size}", f"--max_steps={_STEPS.value}", "--eval_steps=1",
            f"--train_batch_size={_BATCH.value}", f"--eval_batch_size={_BATCH.value}",
            f"--model_dir={folder}/run", "--learning_rate=0.001",
        )  # fmt: skip
        export, export_secs = _tf_frame(
            "export", f"{folder}/run", "--format=saved_model", f"--output={folder}/export"
        )
        failure = next((r.stderr for r in (run, export) if r.returncode), "")
        result = pathlib.Path(folder, "run", "result.json")
        loss = json.loads(result.read_text())["total_loss"] if result.exists() else float("nan")
    message = failure.strip().splitlines()[-1:] or ["ok"]
    times = f"{run_secs:.1f}", f"{export_secs:.1f}"
    print(_LINE.format(found.name, size, f"{loss:.4f}", *times, message[0]), flush=True)
    return not failure


def _tf_frame(*argv: str) -> tuple[subprocess.CompletedProcess[str], float]:
    """Runs a command; returns the completed process, and its seconds."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "tf_frame", *argv]
    done = subprocess.run(command, capture_output=True, text=True)
    return done, time.perf_counter() - start


if __name__ == "__main__":
    app.run(main)
