"""Functions of librosa that are gone, and arguments that it takes by keyword only since 0.10.

librosa.filters.mel(16000, 1024, n_mels=80)
librosa.output.write_wav("speech.wav", samples, 16000)
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

import librosa
import numpy as np
from scipy.io import wavfile

# Packages that import their functions when these are asked for.
_LAZY = ("librosa", "librosa.core", "librosa.feature", "librosa.util")
_MODULES = ("librosa.effects", "librosa.filters")


def restore_methods() -> None:
    """Gives librosa `output`, `logamplitude`, `feature.rmse`, and arguments by position."""
    modules = [importlib.import_module(name) for name in (*_LAZY, *_MODULES)]
    for module in modules:
        for name, function in list(vars(module).items()):
            if isinstance(function, types.FunctionType) and not name.startswith("_"):
                setattr(module, name, _by_position(function))
        if "__getattr__" in vars(module):
            vars(module)["__getattr__"] = _asking(module)
    if not hasattr(librosa, "output"):
        _add_output()
    for module in modules[:2]:
        if not hasattr(module, "logamplitude"):
            vars(module)["logamplitude"] = logamplitude
    if not hasattr(librosa.feature, "rmse"):
        vars(librosa.feature)["rmse"] = librosa.feature.rms


def _add_output() -> None:
    """Adds the module `librosa.output`."""
    output: Any = types.ModuleType("librosa.output")
    output.write_wav = write_wav
    sys.modules[output.__name__] = vars(librosa)["output"] = output


def write_wav(path: Any, y: Any, sr: int, norm: bool = False) -> None:
    """Writes samples `[time]` or `[2, time]` as a file; `norm` scales them to -1 ... 1."""
    samples = np.asarray(y)
    if norm and np.issubdtype(samples.dtype, np.floating):
        samples = samples / (np.abs(samples).max() or 1)
    wavfile.write(path, sr, samples.T)


def logamplitude(
    S: Any, ref_power: Any = 1.0, amin: float = 1e-10, top_db: float | None = 80.0
) -> Any:
    """Returns a power spectrum in decibels."""
    return librosa.power_to_db(S, ref=ref_power, amin=amin, top_db=top_db)


def _asking(module: Any) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a module, whose functions take arguments by position."""
    get = module.__getattr__

    def ask(name: str) -> Any:
        value = get(name)
        if isinstance(value, types.FunctionType):
            value = vars(module)[name] = _by_position(value)
        return value

    return ask


@functools.cache
def _by_position(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that takes its keyword-only arguments by position, too."""
    parameters = inspect.signature(function).parameters.values()
    positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    has_any_number = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if not named or has_any_number:
        return function

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        extra = arguments[len(positional) :]
        # More than there are: the error of the function itself tells so.
        if len(extra) <= len(named):
            arguments = arguments[: len(positional)]
            options = {**dict(zip(named, extra, strict=False)), **options}
        return function(*arguments, **options)

    return call
