"""Lists the sub-commands of `tf-frame` that packages bring, without importing any package."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
from typing import TYPE_CHECKING

from tf_frame.errors import TfFrameError

if TYPE_CHECKING:
    from tf_frame.plugin.find import PluginInfo

_GROUP = b"tf_frame.commands"


def installed_commands() -> list[PluginInfo]:
    """Returns the enabled commands of packages, sorted by name.

    The list is empty if the list of disabled plugins cannot be read; a command that needs plugins
    reports the error.
    """
    if not _is_any_installed():
        return []
    # Here, because reading the metadata of all packages takes as long as the rest of
    # `tf-frame --help`, and most users have no package with a command.
    from tf_frame.plugin.find import DISABLED, INCOMPATIBLE, find_plugins
    from tf_frame.plugin.kinds import COMMAND

    with contextlib.suppress(TfFrameError):
        return [
            info
            for info in find_plugins()
            if info.kind == COMMAND and info.state not in (DISABLED, INCOMPATIBLE)
        ]
    return []


def _is_any_installed() -> bool:
    for folder in sys.path:
        pattern = os.path.join(glob.escape(folder or "."), "*.*-info", "entry_points.txt")
        for path in glob.iglob(pattern):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                if _GROUP in file.read():
                    return True
    return False
