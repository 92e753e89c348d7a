"""`tf-frame tensorboard`: starts TensorBoard on runs; by default only this machine can reach it.

TensorBoard leaves out a plugin that it cannot import, and only logs a traceback. If the Profile tab
is left out, the command prints the reason.
"""

from __future__ import annotations

import contextlib
import errno
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import IO, Any

from tf_frame import file_system
from tf_frame.cli.doctor import packages
from tf_frame.cli.doctor.machine import LOOPBACK, OK
from tf_frame.cli.doctor.probe import Child
from tf_frame.command_line.folder_command import folder_command
from tf_frame.command_line.screen import complain, report
from tf_frame.config.option import Option
from tf_frame.config.yaml_file import Settings, read_settings
from tf_frame.errors import EXIT_OK, ConfigError, TfFrameError
from tf_frame.launch.noted_signals import note_signals
from tf_frame.optional_packages import require_packages
from tf_frame.runs.setup.model_dir import CONFIG_FILE
from tf_frame.text import short, short_word

_USAGE = """usage: tf-frame tensorboard MODEL_DIR [MODEL_DIR ...] [OPTIONS]

Starts TensorBoard on a run, on a folder of runs, or on several, prints its address once it answers,
and says why if it lacks the Profile tab. Only this machine reaches it; from another one:
ssh -L 6006:127.0.0.1:6006 MACHINE. Ctrl-C ends it."""
OPTIONS = (
    Option("port", int | None, None, "its port; default: the first free one from 6006", 1, 65535),
    Option("host", str, LOOPBACK, "address of this machine that it listens on"),
)
PROGRAM = (sys.executable, "-m", "tensorboard.main")
_EVENTS, _PROFILE = "tfevents", ".xplane.pb"
_PLUGIN = "profile"
_FIRST_PORT, _TRIED_PORTS = 6006, 100
# TensorBoard imports TensorFlow, which takes minutes from some network file systems.
_MAX_START_SECS, _MAX_STOP_SECS = 180.0, 10.0
_POLL_SECS, _ANSWER_SECS = 0.2, 5.0
_SHOWN_LINES = 15
_EVERY_ADDRESS = {"0.0.0.0": LOOPBACK, "::": "::1"}


@folder_command(
    name="tf-frame tensorboard",
    usage=_USAGE,
    options=OPTIONS,
    takes="folders of runs, MODEL_DIR ...",
    count=None,
)
def main(words: Sequence[str], values: Mapping[str, Any]) -> int:
    """Runs TensorBoard until Ctrl-C; returns the exit code."""
    folders = [word if file_system.is_remote(word) else _local(word) for word in words]
    require_packages("tf-frame tensorboard", "tensorboard", install="tensorboard")
    host = values["host"]
    port = free_port(host, values["port"])

    def answered(url: str, plugins: Collection[str]) -> None:
        report(f"TensorBoard of {', '.join(words)}: {url} (Ctrl-C ends it)")
        for note in _notes(folders, host, plugins):
            complain(f"note: {note}")

    serve([*PROGRAM, *_data(folders), "--window_title", _title(folders)], host, port, answered)
    return EXIT_OK


def _local(word: str) -> str:
    folder = os.path.abspath(os.path.expanduser(word))
    file_system.require_folder(os.path.expanduser(word))
    if not _holds(folder, _EVENTS) and not _holds(folder, _PROFILE):
        raise ConfigError(
            f"{short(word)} has no event files, which a run writes from its start; give the "
            "--model_dir of a run, or a folder of several"
        )
    return folder


def _holds(folder: str, mark: str) -> bool:
    """Returns whether a folder has, at any depth, a file with the mark in its name."""
    return any(mark in name for _, _, names in os.walk(folder) for name in names)


def _data(folders: Sequence[str]) -> list[str]:
    """Returns TensorBoard's flag for the folders; of several folders it shows the names."""
    if len(folders) == 1:
        return ["--logdir", folders[0]]
    if wrong := [folder for folder in folders if {",", ":"} & set(folder)]:
        raise ConfigError(
            f"{short(wrong[0])}: TensorBoard takes several folders only if none is remote or has "
            "a comma or a colon in its name; give the folder that contains them"
        )
    common = os.path.commonpath(folders)
    named = [f"{os.path.relpath(folder, common)}:{folder}" for folder in folders]
    return ["--logdir_spec", ",".join(dict.fromkeys(named))]


def _title(folders: Sequence[str]) -> str:
    """Returns the title of the page: model and name of each run."""
    return ", ".join(filter(None, map(_run_title, folders)))


def _run_title(folder: str) -> str:
    name, settings = os.path.basename(folder.rstrip("/")), Settings()
    path = os.path.join(folder, CONFIG_FILE)
    if not file_system.is_remote(folder) and os.path.isfile(path):
        with contextlib.suppress(ConfigError):
            settings = read_settings(path)
    return f"{settings.plugin} {name}" if settings.plugin else name


def _notes(folders: Sequence[str], host: str, plugins: Collection[str]) -> Iterator[str]:
    """Yields warnings: the Profile tab shows nothing, or other machines can connect."""
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


def free_port(host: str, requested: int | None) -> int:
    """Returns the requested port, or else the first free one from TensorBoard's own.

    Raises:
      ConfigError: the requested port is taken, all ports are, or this machine has no such address.
    """
    if requested:
        if _is_free(host, requested):
            return requested
        raise ConfigError(
            f"--port {requested} is taken on {short_word(host)}; give another one, or leave "
            f"--port out for the first free one from {_FIRST_PORT}"
        )
    tried = range(_FIRST_PORT, _FIRST_PORT + _TRIED_PORTS)
    free = next((port for port in tried if _is_free(host, port)), None)
    if free is None:
        raise ConfigError(f"the ports {tried[0]} to {tried[-1]} are all taken; give --port")
    return free


def _is_free(host: str, port: int) -> bool:
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            # Connections that an earlier server closed must not keep the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            return True
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        reason = error.strerror or error
        raise ConfigError(
            f"--host {short_word(host)}: port {port} cannot be used: {reason}"
        ) from None


def serve(
    words: Sequence[str],
    host: str,
    port: int,
    answered: Callable[[str, Collection[str]], None],
) -> None:
    """Runs TensorBoard until Ctrl-C or SIGTERM.

    Args:
      words: program and arguments without the address.
      host, port: the address of the server.
      answered: called at the first answer, with the URL and the names of the plugins.

    Raises:
      TfFrameError: TensorBoard ends by itself, or does not answer in time.
    """
    local_host = _EVERY_ADDRESS.get(host, host)
    url = f"http://[{local_host}]:{port}/" if ":" in local_host else f"http://{local_host}:{port}/"
    words = [*words, "--host", host, "--port", str(port)]
    with (
        note_signals() as signals,
        tempfile.TemporaryFile("w+", errors="replace") as log,
        _process(words, log) as process,
    ):
        limit = time.monotonic() + _MAX_START_SECS
        plugins = None
        while not signals and process.poll() is None:
            if plugins is None and (plugins := _plugins(url)) is not None:
                answered(url, plugins)
            if plugins is None and time.monotonic() > limit:
                raise TfFrameError(
                    f"TensorBoard does not answer after {_MAX_START_SECS:g} s{_last_lines(log)}"
                )
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_SECS)
        if not signals:
            raise TfFrameError(
                f"TensorBoard ended with exit code {process.returncode}{_last_lines(log)}"
            )


@contextlib.contextmanager
def _process(words: Sequence[str], log: IO[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block."""
    process = subprocess.Popen(
        words,
        env={"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_MAX_STOP_SECS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _plugins(url: str) -> Collection[str] | None:
    """Returns the names of TensorBoard's plugins; None while it does not answer."""
    # No proxy: it would not know this machine's own address.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}data/plugins_listing", timeout=_ANSWER_SECS) as answer:
            return list(json.load(answer))
    except (OSError, http.client.HTTPException):
        return None


def _last_lines(log: IO[str]) -> str:
    log.seek(0)
    lines = log.read().splitlines()[-_SHOWN_LINES:]
    return ":\n" + "\n".join(lines) if lines else ""
