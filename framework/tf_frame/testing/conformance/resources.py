"""Finds threads, open files, signal handlers and patched functions that a hook leaves behind."""

from __future__ import annotations

import builtins
import contextlib
import gc
import logging
import os
import signal
import sys
import threading
import time
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.client import session as tf_session

_WAIT_SECS = 5.0
# A hook must restore the attributes of these modules and classes.
_PATCHABLE = (
    *(builtins, gc, logging, os, signal, sys, threading, time),
    *(tf_session.BaseSession, tf.Session, tf.train.Optimizer, tf.summary.FileWriter, tf.Graph),
)
_CHANGING = ("last_exc", "last_type", "last_value", "last_traceback", "path_importer_cache")


def resources() -> dict[str, dict[Any, Any]]:
    """Returns threads, open files, and functions that a hook might replace."""
    places = {getattr(place, "__name__", str(place)): vars(place) for place in _PATCHABLE}
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    return {
        "thread": {thread.ident: thread.name for thread in threading.enumerate()},
        "open file": _open_files(),
        "patched": {
            f"{name}.{key}": id(value)
            for name, place in places.items()
            for key, value in list(place.items())
            if not key.startswith("__") and key not in _CHANGING and callable(value)
        },
        "handler of signal": {number: id(handler) for number, handler in signals.items()},
        "state of gc": {"enabled": gc.isenabled(), "threshold": gc.get_threshold()},
        "callback of gc": {id(callback): repr(callback) for callback in gc.callbacks},
        "trace function": {"trace": sys.gettrace(), "profile": sys.getprofile()},
        "handler of logging": {
            id(handler): repr(handler)
            for name in ("", "tf_frame", "tensorflow")
            for handler in logging.getLogger(name).handlers
        },
    }


def _open_files() -> dict[str, str]:
    files = {}
    for number in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/self/fd/{number}")
            if target.startswith("/") and not target.startswith(("/proc", "/dev", "/sys")):
                files[target] = target
    return files


def find_leaks(before: dict[str, dict[Any, Any]]) -> list[str]:
    """Describes resources that were not held before, after a wait for ending threads."""
    until = time.monotonic() + _WAIT_SECS
    while time.monotonic() < until and _new_threads(before):
        _new_threads(before)[0].join(0.05)
    if not _new_resources(before):
        return []
    gc.collect()  # Takes long in a process of many objects.
    return _new_resources(before)


def _new_resources(before: dict[str, dict[Any, Any]]) -> list[str]:
    descriptions = []
    for kind, held in resources().items():
        descriptions += [
            f"the {kind} {value if kind.startswith(('thread', 'open', 'handler of l')) else key}"
            for key, value in held.items()
            if before[kind].get(key, None if value is None else ...) != value
        ]
    return descriptions


def _new_threads(before: dict[str, dict[Any, Any]]) -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.ident not in before["thread"]]
