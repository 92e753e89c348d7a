"""A file that an option names, such as `--html`: checked before the work, written after it."""

from __future__ import annotations

import os

from tf_frame.errors import ConfigError, writing
from tf_frame.text import short


def check_file(path: str | None, option: str = "--html") -> None:
    """Refuses an option where no file can be, before time is spent on its content.

    Raises:
      ConfigError: the path is a folder, or its folder is missing or cannot be written.
    """
    if path is None:
        return
    folder = os.path.dirname(os.path.abspath(os.path.expanduser(path)))
    if os.path.isdir(os.path.expanduser(path)):
        raise ConfigError(f"{option} {short(path)} is a folder; give a file")
    if not os.path.isdir(folder):
        raise ConfigError(f"{option} {short(path)}: there is no folder {short(folder)}")
    if not os.access(folder, os.W_OK):
        raise ConfigError(f"{option} {short(path)}: the folder {short(folder)} cannot be written")


def write_text(path: str, content: str, option: str = "--html") -> None:
    """Writes the file; on a full disk, say, the error is one line."""
    with (
        writing(f"{option} {short(path)}", "choose another file"),
        open(os.path.expanduser(path), "w", encoding="utf-8") as file,
    ):
        file.write(content)
