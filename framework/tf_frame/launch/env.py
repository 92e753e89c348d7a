"""Prints the TF_CONFIG and the command of each task, for a program that starts the processes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tf_frame.command_line.screen import report
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.file_system import is_remote
from tf_frame.launch.job import EVALUATOR, Job, Task, tf_config
from tf_frame.shell_text import shell_line, shell_word
from tf_frame.text import brief, listed, short_word

OPTIONS = (
    Option(
        "hosts",
        tuple[str, ...],
        (),
        "host:port of every task but the evaluator, in the order ps, chief, workers; default: "
        "ports of this machine from 2222 on",
    ),
)
_FIRST_PORT = 2222


def main(job: Job, values: Mapping[str, Any]) -> int:
    """Prints a line for a shell for each task.

    Raises:
      ConfigError: the addresses are not one of each task.
    """
    if not (is_remote(job.model_dir) or os.path.isabs(job.model_dir)):
        # The tasks share a folder, wherever each of them starts.
        job = job.in_folder(os.path.abspath(job.model_dir))
    addresses = _addresses(job, values["hosts"])
    for task in job.tasks:
        place = f" at {addresses[task]}" if task in addresses else ""
        report(f"# {task}{place}")
        setting = shell_word(tf_config(task, addresses))
        report(f"TF_CONFIG={setting} {shell_line(['tf-frame', *job.words])}")
    return EXIT_OK


def _addresses(job: Job, hosts: tuple[str, ...]) -> dict[Task, str]:
    tasks = [task for task in job.tasks if task.type != EVALUATOR]
    hosts = hosts or tuple(f"127.0.0.1:{_FIRST_PORT + number}" for number in range(len(tasks)))
    if len(hosts) != len(tasks):
        raise ConfigError(
            f"--hosts has {len(hosts)} addresses ({listed(hosts)}), and the job needs "
            f"{len(tasks)}: {listed(map(str, tasks))}"
        )
    for host in hosts:
        name, _, port = host.rpartition(":")
        if not name or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise ConfigError(f"--hosts: {brief(host)} is no host:port, such as node-1:2222")
        if hosts.count(host) > 1:
            raise ConfigError(
                f"--hosts: {short_word(host)} stands there twice; each task has its own port"
            )
    return dict(zip(tasks, hosts, strict=True))
