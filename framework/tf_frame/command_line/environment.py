"""`start_again_with`: environment variables that a process can only read when it starts.

`--environment LD_PRELOAD=/usr/lib/libjemalloc.so.2` names an allocator, which the loader of the
system takes before any code of Python runs. So the command starts itself again, in its process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from tf_frame.command_line.screen import print_error
from tf_frame.errors import ConfigError
from tf_frame.text import short

# Set in the second start; whatever the process changes itself, there is no third one.
_MARK = "TF_FRAME_ENVIRONMENT"
_PRELOAD = "LD_PRELOAD"


def start_again_with(environment: Sequence[str], *, module: str, words: Sequence[str]) -> None:
    """Starts this process again with the variables of `--environment`, unless it has them.

    Args:
      environment: texts `NAME=VALUE`.
      module, words: the program, for `python -m`, and its words.

    Raises:
      ConfigError: a library to load is not there.
    """
    mark = "\n".join(environment)
    if not environment or os.environ.get(_MARK) == mark:
        return
    variables = dict(_parse(environment))
    for path in variables.get(_PRELOAD, "").split(":"):
        if path and not os.path.exists(path):
            raise ConfigError(
                f"--environment {_PRELOAD}={short(path)}: there is no such file on this machine; "
                "install the library, or leave the variable out"
            )
    print_error(f"starting again with {' '.join(variables)}, as --environment says")
    sys.stdout.flush()
    program = [sys.executable, "-m", module, *words]
    os.execve(sys.executable, program, {**os.environ, **variables, _MARK: mark})


def _parse(environment: Sequence[str]) -> Iterator[tuple[str, str]]:
    for assignment in environment:
        name, _, value = assignment.partition("=")
        yield name, value
