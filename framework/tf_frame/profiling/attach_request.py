"""Requests for a profile of a running job: a file in its folder, and a signal to its processes."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import re
import signal
import time

from tf_frame.atomic_output import write_file
from tf_frame.errors import DataError
from tf_frame.ownership import read_own_file
from tf_frame.side_files import from_json, parse_side_file
from tf_frame.text import brief, short

SIGNAL = signal.SIGUSR2
_FILE = "profile_request.json"
# Locked while a process waits for the profile of its request.
LOCK = "profile_request.lock"
_LABEL = re.compile(r"\w{1,100}")
_CAUGHT = "SigCgt:"


@dataclasses.dataclass(frozen=True)
class ProfileRequest:
    """A request for a profile.

    Attributes:
      label: unique name of the profile.
      steps: number of steps.
      all_tasks: whether parameter servers take part.
      asked_by: name of the command that asks, for the log.
      began: time in the name of its folder, seconds since 1970.
      pid: process that asks, and removes the file in the end.

    Raises:
      ValueError: a value has a wrong type, or the label cannot be part of a file's name.
    """

    label: str
    steps: int
    all_tasks: bool = False
    asked_by: str = "tf-frame profile attach"
    began: float = dataclasses.field(default_factory=time.time)
    pid: int = dataclasses.field(default_factory=os.getpid)

    def __post_init__(self) -> None:
        if not _LABEL.fullmatch(self.label):
            raise ValueError(f"label {brief(self.label)}")
        if self.steps < 1:
            raise ValueError(f"{self.steps} steps")


def write_request(model_dir: str, request: ProfileRequest) -> None:
    """Writes the request that the processes read when the signal comes."""
    write_file(os.path.join(model_dir, _FILE), json.dumps(dataclasses.asdict(request)))


def read_request(model_dir: str) -> ProfileRequest:
    """Reads the request.

    Raises:
      DataError: there is none, another user may have written it, or it is damaged.
    """
    path = os.path.join(model_dir, _FILE)
    content = read_own_file(path)
    if content is None:
        raise DataError(f"there is no request for a profile, {short(path)}")
    text = content.decode(errors="replace")
    return parse_side_file(path, text, functools.partial(from_json, ProfileRequest))


def remove_request(model_dir: str) -> None:
    """Removes the request, once it is answered."""
    with contextlib.suppress(OSError):
        os.remove(os.path.join(model_dir, _FILE))


def listens(pid: int) -> bool:
    """Returns whether a process of this machine handles the signal, which ends all others."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            masks = [line.split()[1] for line in file if line.startswith(_CAUGHT)]
    except OSError:
        return False
    return bool(masks) and bool(int(masks[0], 16) >> (SIGNAL - 1) & 1)
