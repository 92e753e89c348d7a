"""The folder of a run: made, checked and described before anything slow happens."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator

from tf_frame.errors import ConfigError

CONFIG_FILE = "config.yaml"
RESULT_FILE = "result.json"


def default_model_dir(plugin: str) -> str:
    """A folder under `./runs` that does not exist yet, named after plugin and time."""
    start = os.path.join("runs", f"{plugin.split(':')[-1]}-{time.strftime('%Y%m%d-%H%M%S')}")
    path, count = start, 1
    while os.path.exists(path):
        count += 1
        path = f"{start}-{count}"
    return path


def prepare(path: str) -> None:
    """Creates the folder and makes sure that files can be written there.

    Raises:
      ConfigError: they cannot; the message says why.
    """
    if "://" in path:
        raise ConfigError(f"--model_dir {path}: only folders of this machine can be written")
    if any(character in path for character in "*?["):
        raise ConfigError(
            f"--model_dir {path}: TensorFlow's savers take *, ? and [ in a path for a pattern; "
            "choose a folder without them"
        )
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"tf-frame")
    except OSError as error:
        raise ConfigError(
            f"--model_dir {path} cannot be written: {error.strerror}; choose another folder"
        ) from None


@contextlib.contextmanager
def discarded_if_unused(path: str, *, is_chief: bool = True) -> Iterator[None]:
    """Makes the folder, and removes it again if the run fails before it has begun to train.

    Only a folder that was not there before is removed, and only by the chief:
    another worker may just have been the first to come.

    Raises:
      ConfigError: nothing can be written there; see `prepare`.
    """
    existed = os.path.exists(path)
    prepare(path)
    try:
        yield
    except BaseException:
        # The configuration is written as soon as there is a session.
        if is_chief and not existed and not os.path.exists(os.path.join(path, CONFIG_FILE)):
            shutil.rmtree(path)
        raise


@contextlib.contextmanager
def locked(path: str) -> Iterator[None]:
    """Keeps the folder to this process; the lock goes with the process, however it ends.

    Raises:
      ConfigError: another run has it.
    """
    with open(os.path.join(path, "run.lock"), "a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"another run is writing to --model_dir {path}; wait for it, or choose another"
            ) from None
        yield
