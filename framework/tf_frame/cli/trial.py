"""The program of a trial of `tf_frame.experiments`: `python -m tf_frame.cli.trial FD FOLDER WORDS`.

It trains as `tf-frame run WORDS` does, without an end and without evaluations, in turns: it reads
them from standard input, and answers to the file with the number FD. The folder is a new one.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from tf_frame.cli.main import run_safely
from tf_frame.cli.run import with_flag
from tf_frame.cluster import Cluster
from tf_frame.command_line.environment import start_again_with
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.command_line.screen import report
from tf_frame.errors import EXIT_OK
from tf_frame.experiments.trial import SIGNALS
from tf_frame.process_end import end_process
from tf_frame.resources import check_threads
from tf_frame.runs.setup.run_context import RunContext, RunObserver
from tf_frame.session.interrupts import Interrupts
from tf_frame.tensorflow_log import quiet_import

# No trial comes so far; a schedule over all steps stays at its beginning.
_NO_END = 10**9


def main(argv: Sequence[str]) -> int:
    """Trains in turns until the questions end; returns the exit code."""
    answers, folder, *words = argv
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    # Group of its own: SIGSTOP is to meet all of its processes, and Ctrl-C of the terminal none.
    os.setpgid(0, 0)
    line = parse_command_line(with_flag(words)).with_values(
        model_dir=folder,
        max_steps=_NO_END,
        evaluate=False,
        eval_every_n_steps=0,
        eval_every_secs=None,
        max_secs=None,
        allow_inexact_resume=True,  # Nothing is resumed.
        locked=False,
    )
    setup = line.setup()
    start_again_with(setup.config.environment, module="tf_frame.cli.trial", words=argv)
    os.makedirs(folder)
    check_threads()
    source = setup.make_input()
    setup.check(source.info)
    with quiet_import(setup.config.verbosity):
        from tf_frame.experiments.turns import TurnsHook
        from tf_frame.runs.training.training import Training
    with (
        os.fdopen(int(answers), "w", encoding="utf-8") as file,
        Interrupts().installed() as interrupts,
    ):
        turns = TurnsHook(sys.stdin, file, examples_per_step=setup.examples_per_step())
        context = RunContext(
            observer=RunObserver(report, interrupts, shows_progress=True),
            cluster=Cluster(),
            hooks=[turns],
        )
        model = setup.make_model(source.info)
        Training(setup, context, model=model, source=source).run()
    return EXIT_OK


if __name__ == "__main__":
    end_process(run_safely(main, sys.argv[1:]))
