"""Runs a job in Slurm: writes an sbatch script and submits it.

The script starts all tasks by one `srun`. Each process finds its task in the allocation: see
`tf_frame.cluster.slurm`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tf_frame.cluster.slurm import PORT
from tf_frame.command_line.screen import report
from tf_frame.config.option import Option
from tf_frame.errors import (
    EXIT_OK,
    ConfigError,
    TfFrameError,
    writing,
)
from tf_frame.file_system import is_remote
from tf_frame.launch.job import GPUS_PER_WORKER, Job, refuse_unprintable
from tf_frame.shell_text import shell_line, shell_word
from tf_frame.text import brief, short, short_word

OPTIONS = (
    Option(
        "slurm_options",
        str,
        "",
        'words for sbatch, such as "--partition gpu --time 10:00:00 --cpus-per-task 8"',
    ),
    Option(
        "slurm_port",
        int | None,
        None,
        "the first port of the tasks on each node; default: one that follows from the job's number",
        min=1,
        max=65535,
    ),
    GPUS_PER_WORKER,
    Option("print_only", bool, False, "print the script instead of submitting it"),
)
# The tasks begin to save so many seconds before the time limit; Slurm may be a minute early.
_NOTICE_SECS = 60

_SCRIPT = """\
#!/bin/bash
# Slurm writes no log into a folder that is missing: mkdir -p {logs}
{directives}
{port}
# After scancel, preemption or requeueing Slurm itself sends SIGTERM to the tasks. Shortly before
# the time limit it sends USR1 to this script alone.
stopped=0
trap 'stopped=143 again=1' TERM
trap 'stopped=143 again=1; scancel --signal=TERM "$SLURM_JOB_ID.0"' USR1

# Every task saves when it is sent SIGTERM, and ends with 143. To srun that is no failure, because
# srun kills the other tasks after a failure, and they may still be saving.
task='trap : TERM; "$@"; code=$?; [ $code -eq 143 ] || exit $code'

srun --kill-on-bad-exit=1 --wait=0 --open-mode=append \\
  --output={task_log} \\
  bash -c "$task" task \\
  {command} &
step=$!
# A signal ends wait; bash keeps the exit code of a step that is over, however soon that was.
again=1
while [ $again -eq 1 ]; do
  again=0
  wait $step
  code=$?
done
[ $code -ne 0 ] || code=$stopped
exit $code
"""


def main(job: Job, values: Mapping[str, Any]) -> int:
    """Submits a job, and prints commands to watch it; all nodes share the folder of the job.

    Raises:
      ConfigError: the options for sbatch cannot be read.
      TfFrameError: the job cannot be submitted.
    """
    text = script(job, values)
    if values["print_only"]:
        report(text.removesuffix("\n"))
        return EXIT_OK
    folder = _folder(job)
    path = folder / "job.sbatch"
    with writing(f"--model_dir {short(folder)}"):
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    number = _submit(path)
    report(_next_commands(job, path, number))
    return EXIT_OK


def script(job: Job, values: Mapping[str, Any]) -> str:
    """Returns the sbatch script of a job; errors as of `main`."""
    port = values["slurm_port"]
    return _SCRIPT.format(
        directives="\n".join(f"#SBATCH {line}" for line in _directives(job, values)),
        logs=shell_word(f"{_folder(job)}/logs"),
        port=f"export {PORT}={port}\n" if port else "",
        task_log=shell_word(_pattern(job, "slurm-task-%t.log")),
        command=shell_line(_command(job)),
    )


def _directives(job: Job, values: Mapping[str, Any]) -> list[str]:
    """Returns the options of sbatch; of an option that is given twice, the later one counts."""
    gpus = values["gpus_per_worker"]
    return [
        f"--job-name={_quoted(_name(job))}",
        *_size(job),
        f"--output={_quoted(_pattern(job, 'slurm-job-%j.log'))}",
        "--open-mode=append",
        f"--signal=B:USR1@{_NOTICE_SECS}",
        "--requeue",
        # Paths of the command are relative to it, wherever the script is submitted.
        f"--chdir={_quoted(os.getcwd())}",
        *([f"--gpus-per-task={gpus}"] if gpus else []),
        *map(_quoted, _join_options(values["slurm_options"])),
    ]


def _size(job: Job) -> list[str]:
    """Returns the options of sbatch for the number of tasks.

    Slurm chooses a number of nodes, not of tasks, from a range. When it starts the job again, such
    as after the failure of a node, it chooses again.
    """
    if job.min_workers is None:
        return [f"--ntasks={len(job.tasks)}"]
    least = len(job.tasks) - job.num_workers + job.min_workers
    return [f"--nodes={least}-{len(job.tasks)}", "--ntasks-per-node=1"]


def _join_options(text: str) -> list[str]:
    """Joins each option with its value: `--time 10:00` becomes `--time=10:00`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"--slurm_options {short_word(text)}: {error}") from None
    options: list[str] = []
    takes_value = False
    for word in words:
        if "\n" not in word and word.startswith("-"):
            options.append(word)
            takes_value = "=" not in word
        elif "\n" not in word and options and takes_value:
            # A short option and its value are one word.
            options[-1] += ("=" if options[-1].startswith("--") else "") + word
            takes_value = False
        else:
            raise ConfigError(
                f"--slurm_options {short_word(text)}: {brief(word)} is no option of sbatch; write "
                "options only, "
                'such as "--partition gpu --time 10:00:00"'
            )
    return options


def _quoted(word: str) -> str:
    """Quotes a word for sbatch, which knows double quotes and backslashes, but no line ends."""
    refuse_unprintable(word, "a line of sbatch's options")
    if word and not set(word) & set(" \t\"'\\#"):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _command(job: Job) -> list[str]:
    """Returns the command of every task; all nodes share the Python that submits the job."""
    words = [*job.words, "--cluster_from", "slurm", "--num_ps_tasks", str(job.num_ps)]
    if job.evaluator and "--dedicated_evaluator" not in words:
        words.append("--dedicated_evaluator")
    return [sys.executable, "-m", "tf_frame", *words]


def _name(job: Job) -> str:
    return os.path.basename(job.model_dir.rstrip("/")) or "tf-frame"


def _folder(job: Job) -> Path:
    """Returns the folder of script and logs: the model folder, or a local one if that is remote."""
    return Path(f"slurm-{_name(job)}" if is_remote(job.model_dir) else job.model_dir).absolute()


def _pattern(job: Job, name: str) -> str:
    """Returns the path of a log; Slurm replaces `%t` and `%j` in it."""
    return f"{_folder(job)}/logs".replace("%", "%%") + f"/{name}"


def _submit(path: Path) -> str:
    """Submits a script; returns the number of the job."""
    try:
        done = subprocess.run(
            ["sbatch", "--parsable", str(path)], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise TfFrameError(
            f"there is no program sbatch here; submit {short(path)} on a machine of the Slurm "
            "cluster:\n"
            f"  sbatch {shell_word(str(path))}"
        ) from None
    if done.returncode:
        raise TfFrameError(f"sbatch refused {short(path)}: {short(done.stderr.strip())}")
    return done.stdout.strip().split(";")[0]


def _size_text(job: Job) -> str:
    if job.min_workers is None:
        return f"{len(job.tasks)} tasks"
    return f"{job.min_workers} to {job.num_workers} workers, each task on a node of its own"


def _next_commands(job: Job, path: Path, number: str) -> str:
    logs = shell_word(str(path.parent / "logs"))
    return (
        f"job {number} is submitted: {_size_text(job)}, {path}\n"
        f"  squeue --job {number}\n"
        f"  tail -F {logs}/slurm-*.log\n"
        f"  tf-frame status {shell_word(job.model_dir)}\n"
        f"  scancel {number}      all tasks save and stop\n"
        f"  sbatch {shell_word(str(path))}      goes on from the last checkpoint"
    )
