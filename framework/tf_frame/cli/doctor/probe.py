"""Imports TensorFlow and what else may crash, in a process of its own, which `child` starts.

    python -m tf_frame.cli.doctor.probe tensorflow profile_tab plugins folder=gs://bucket/run

It writes two lines of JSON for each part: the name when it begins, and the result or the error.
So what follows a crash is known not to have been tried.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tf_frame.file_system import write_probe


def main(parts: Sequence[str]) -> None:
    """Runs the parts in turn."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What is imported may print.
    for part in parts:
        name, _, argument = part.partition("=")
        print(json.dumps({"begins": name}), file=answers, flush=True)
        print(json.dumps(_answer(PARTS[name], argument)), file=answers, flush=True)


def _answer(run: Callable[[str], Any], argument: str) -> dict[str, Any]:
    try:
        return {"result": run(argument)}
    except BaseException as error:  # An imported module may raise anything, SystemExit as well.
        text = " ".join(str(error).split())
        return {"error": f"{type(error).__name__}: {text}" if text else type(error).__name__}


def _tensorflow(_: str) -> dict[str, Any]:
    tf = importlib.import_module("tensorflow")
    gpus = tf.config.list_physical_devices("GPU")
    named = [tf.config.experimental.get_device_details(gpu).get("device_name") for gpu in gpus]
    return {
        "version": tf.__version__,
        "gpus": [name or gpu.name for name, gpu in zip(named, gpus, strict=True)],
        "cuda": tf.test.is_built_with_cuda(),
    }


def _profile_tab(_: str) -> None:
    for module in ("tensorboard.default", "xprof.profile_plugin"):
        importlib.import_module(module)


def _plugins(_: str) -> Any:
    return importlib.import_module("tf_frame.cli.plugin_list").checked_plugins()


PARTS: dict[str, Callable[[str], Any]] = {
    "tensorflow": _tensorflow,
    "profile_tab": _profile_tab,
    "plugins": _plugins,
    "folder": write_probe,
}

if __name__ == "__main__":
    main(sys.argv[1:])
