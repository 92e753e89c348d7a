"""Requests for a profile of a running job: a file in its folder, and a signal to its processes."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import time

from tf_frame import file_system
from tf_frame.atomic_output import write_file
from tf_frame.errors import DataError

SIGNAL = signal.SIGUSR2
_FILE = "profile_request.json"
_CAUGHT = "SigCgt:"


@dataclasses.dataclass(frozen=True)
class ProfileRequest:
    """A request.

    Attributes:
      label: name of the profile, which no other one has.
      steps: number of steps.
      all_tasks: whether parameter servers take part.
      asked_by: who asks, for the log.
      began: time in the name of its folder, seconds since 1970.
    """

    label: str
    steps: int
    all_tasks: bool = False
    asked_by: str = "tf-frame profile attach"
    began: float = dataclasses.field(default_factory=time.time)


def write_request(model_dir: str, request: ProfileRequest) -> None:
    """Writes the request that the processes read when the signal comes."""
    write_file(os.path.join(model_dir, _FILE), json.dumps(dataclasses.asdict(request)))


def read_request(model_dir: str) -> ProfileRequest:
    """Reads the request.

    Raises:
      DataError: there is none, or it is damaged.
    """
    path = os.path.join(model_dir, _FILE)
    try:
        return ProfileRequest(**json.loads(file_system.read_text(path)))
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{path} is no request for a profile: {error}") from error


def listens(pid: int) -> bool:
    """Returns whether a process of this machine handles the signal, which ends all others."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            masks = [line.split()[1] for line in file if line.startswith(_CAUGHT)]
    except OSError:
        return False
    return bool(masks) and bool(int(masks[0], 16) >> (SIGNAL - 1) & 1)
