"""`tf-frame tensorboard`: starts TensorBoard on runs, reachable from this machine only.

TensorBoard drops a plugin that it cannot import, with a traceback in its log; here a missing
Profile tab is said, with its reason.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.cli import tensorboard_server as server
from tf_frame.cli.doctor import packages
from tf_frame.cli.doctor.machine import LOOPBACK, OK
from tf_frame.cli.doctor.probe import Child
from tf_frame.command_line.folder_command import folder_command
from tf_frame.command_line.screen import complain, report
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, ConfigError

_USAGE = """usage: tf-frame tensorboard MODEL_DIR [MODEL_DIR ...] [OPTIONS]

Starts TensorBoard on a run, on a folder of runs, or on several, prints its address once it answers,
and says why if it lacks the Profile tab. Only this machine reaches it; from another one:
ssh -L 6006:127.0.0.1:6006 MACHINE. Ctrl-C ends it."""
OPTIONS = (
    Option("port", int | None, None, "its port; default: the first free one from 6006", 1, 65535),
    Option("host", str, LOOPBACK, "address of this machine on which it listens"),
)
PROGRAM = (sys.executable, "-m", "tensorboard.main")
_EVENTS, _PROFILE = "tfevents", ".xplane.pb"
_PLUGIN = "profile"


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    return folder_command(
        argv,
        _run,
        name="tf-frame tensorboard",
        usage=_USAGE,
        options=OPTIONS,
        takes="folders of runs, MODEL_DIR ...",
        count=None,
    )


def _run(words: Sequence[str], values: Mapping[str, Any]) -> int:
    folders = [word if file_system.is_remote(word) else _local(word) for word in words]
    if importlib.util.find_spec("tensorboard") is None:
        raise ConfigError("TensorBoard is not installed; pip install tensorboard")
    host = values["host"]
    port = server.free_port(host, values["port"])

    def answered(url: str, plugins: Collection[str]) -> None:
        report(f"TensorBoard of {', '.join(words)}: {url} (Ctrl-C ends it)")
        for note in _notes(folders, host, plugins):
            complain(f"note: {note}")

    server.serve([*PROGRAM, *_data(folders)], host, port, answered)
    return EXIT_OK


def _local(word: str) -> str:
    folder = os.path.abspath(os.path.expanduser(word))
    if not os.path.isdir(folder):
        raise ConfigError(f"{word}: there is no such folder")
    if not _holds(folder, _EVENTS) and not _holds(folder, _PROFILE):
        raise ConfigError(
            f"{word} has no event files, which a run writes from its start; give the --model_dir "
            "of a run, or a folder of several"
        )
    return folder


def _holds(folder: str, mark: str) -> bool:
    """Returns whether a file with the mark in its name is anywhere in a folder."""
    return any(mark in name for _, _, names in os.walk(folder) for name in names)


def _data(folders: Sequence[str]) -> list[str]:
    """TensorBoard's flag for the folders; several get the names by which they differ."""
    if len(folders) == 1:
        return ["--logdir", folders[0]]
    if wrong := [folder for folder in folders if {",", ":"} & set(folder)]:
        raise ConfigError(
            f"{wrong[0]}: TensorBoard takes several folders only if none is remote or has a comma "
            "or a colon in its name; give the folder that contains them"
        )
    common = os.path.commonpath(folders)
    named = [f"{os.path.relpath(folder, common)}:{folder}" for folder in folders]
    return ["--logdir_spec", ",".join(dict.fromkeys(named))]


def _notes(folders: Sequence[str], host: str, plugins: Collection[str]) -> Iterator[str]:
    """Yields what the user should know: the Profile tab shows nothing, or others can connect."""
    if host not in (LOOPBACK, "localhost", "::1"):
        yield f"TensorBoard has no password; whoever reaches {host} can read these runs"
    if _PLUGIN not in plugins:
        yield _why_no_profile_tab()
    elif len(folders) > 1:
        yield "the Profile tab shows the profiles of a single folder; give only one for them"
    elif not file_system.is_remote(folders[0]) and not _holds(folders[0], _PROFILE):
        yield "there is no profile in it yet; tf-frame run --profile_at_step 100 captures one"


def _why_no_profile_tab() -> str:
    with Child([packages.PROFILE_TAB]) as child:
        check = packages.profile_tab(child.answers()[packages.PROFILE_TAB])
    if check.state == OK:
        return "the Profile tab is missing, though xprof can be imported; see tensorboard's log"
    return f"the Profile tab is {'; '.join([check.found, *check.advice])}"
