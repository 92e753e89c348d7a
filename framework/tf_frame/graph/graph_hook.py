"""Edits the graph: by the model's `graph_hook`, by `--graph_hook`, and by quantisation.

With `--graph_hook` an experiment changes the graph of an installed model without copying its code:

    # edit.py
    def stop_backbone():
        graph = tf.compat.v1.get_default_graph()
        ...

    tf-frame run --plugin deeplab --graph_hook edit:stop_backbone

A graph hook is called like object_detection's `graph_hook_fn` (tensorflow/models,
research/object_detection/legacy/trainer.py): without arguments, in the default graph, on the
variables device, after the clones are built and before their losses and update ops are used.
"""

from __future__ import annotations

import importlib
import operator
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import ConfigError, PluginError
from tf_frame.graph.quantization import quantization_summaries, quantize_training_graph
from tf_frame.text import brief, short


def run_graph_hooks(*, model: Any, config: RunOptions, deployment: DeploymentConfig) -> None:
    """Edits the default graph by the model's hook, then by `--graph_hook`, then by quantisation.

    Raises:
      ConfigError: the named hook cannot be loaded, or the graph not quantised.
      PluginError: the named hook failed; the message names the hook, the place and the cause.
    """
    with tf.device(deployment.variables_device()):
        if hasattr(model, "graph_hook"):
            model.graph_hook()
        if config.graph_hook:
            hook = load_graph_hook(config.graph_hook)
            try:
                hook()
            except Exception as error:
                cause = _cause(error, hook)
                raise PluginError(
                    f"--graph_hook {short(config.graph_hook)} raised {cause}"
                ) from error
    if config.quantize_delay_step < 0:
        return
    if deployment.num_clones > 1:
        # The text of train.py of tensorflow/models, research/deeplab.
        raise ConfigError("Quantization doesn't support multi-clone yet.")
    quantize_training_graph(delay_steps=config.quantize_delay_step)
    quantization_summaries()


def load_graph_hook(name: str) -> Callable[[], Any]:
    """Imports the function `module:function`; the module may be in the current folder.

    Raises:
      ConfigError: the name is malformed, or there is no such function.
    """
    module_name, _, path = name.partition(":")
    if not all(part.isidentifier() for part in [*module_name.split("."), *path.split(".")]):
        raise ConfigError(
            f"--graph_hook {name}: expected module:function, such as my_package.edits:prune"
        )
    module = _import(name, module_name)
    try:
        hook: Callable[[], Any] = operator.attrgetter(path)(module)
    except AttributeError as error:
        raise ConfigError(
            f"--graph_hook {name}: {module.__file__ or module_name} has no {brief(path)}; name a "
            "function that is defined there"
        ) from error
    if not callable(hook):
        raise ConfigError(
            f"--graph_hook {name}: {short(path)} is {brief(hook)} of type {type(hook).__name__}; "
            "it must be a function without arguments"
        )
    return hook


def _import(name: str, module_name: str) -> Any:
    # At the end of the path, to hide no installed module; it stays there for imports within the
    # hook.
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        return importlib.import_module(module_name)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name is not None
        if missing and f"{module_name}.".startswith(f"{error.name}."):  # type: ignore[attr-defined]
            raise ConfigError(
                f"--graph_hook {name}: there is no module {brief(error.name)}, neither installed "  # type: ignore[attr-defined]
                f"nor in {os.getcwd()}"
            ) from error
        raise ConfigError(
            f"--graph_hook {name}: the module {module_name} cannot be imported: {_cause(error)}"
        ) from error


def _cause(error: BaseException, hook: Any = None) -> str:
    """An error with its file and line, in the hook's own file if possible."""
    code = getattr(hook, "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    in_hook = [frame for frame in frames if code and frame.filename == code.co_filename]
    frame = (in_hook or list(frames))[-1]
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{text} ({frame.filename}, line {frame.lineno})"
