"""Finds the checkpoint for the values that a user names: weights of a package, or a file."""

from __future__ import annotations

import os
from collections.abc import Callable

from tf_frame.plugin.weights_contract import VALUES
from tf_frame.progress_bar import ProgressBar
from tf_frame.weights.plugins import is_weights_name, load_weights
from tf_frame.weights.store import cache_file, cache_weights


def resolve_values(text: str, report: Callable[[str], None]) -> str:
    """Returns a path with a checkpoint for a value of `--warm_start_from`.

    Args:
      text: the name of weights, which are fetched first; a file of arrays (`.npz`), a frozen graph
        (`.pb`) or a file of Keras (`.h5`, `.keras`), which becomes a checkpoint in the cache; or a
        path that has a checkpoint.
      report: takes a line for the user.

    Raises:
      PluginError, DownloadError, DataError, ConfigError: see `cache_weights`.
    """
    if is_weights_name(text):
        prefix = fetch_weights(text, report)
        report(f"weights {text}: {prefix}")
        return prefix
    path = os.path.expanduser(text)
    if path.endswith(VALUES) and os.path.isfile(path):
        return cache_file(path, report=report)
    return text


def fetch_weights(name: str, report: Callable[[str], None]) -> str:
    """Returns the checkpoint of weights; on a terminal a bar shows the progress of a download."""
    weights = load_weights(name)
    with ProgressBar(unit="B", unit_scale=True, desc=name, leave=False) as bar:

        def show(received: int, size: int | None) -> None:
            bar.total = size
            bar.update(received - bar.n)

        return cache_weights(name, weights, show=show, report=report)
