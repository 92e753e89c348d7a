"""`tf-frame legacy run SCRIPT`: runs an old program as it is."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import traceback
from collections.abc import Iterator, Sequence

from tf_frame.command_line.option_help import group_text
from tf_frame.command_line.screen import complain, report_help
from tf_frame.config.flags import parse_words
from tf_frame.config.option import declared_options, option, resolve
from tf_frame.errors import EXIT_FAILED, EXIT_OK, EXIT_USAGE, ConfigError, TfFrameError
from tf_frame_legacy.program import importing
from tf_frame_legacy.program.faults import explain_error
from tf_frame_legacy.program.importing import Imports
from tf_frame_legacy.program.run import Program, find_module, find_script
from tf_frame_legacy.program.watch.options import WatchOptions

_USAGE = """usage: tf-frame legacy run [OPTIONS] SCRIPT [WORDS]
       tf-frame legacy run [OPTIONS] -m MODULE [WORDS]

Runs a program for TensorFlow 1 as it is. For the files of the program, and no others, `tensorflow`
has contrib, estimator, layers and rnn cells, and tf_slim and tensorflow_estimator exist. All words
after SCRIPT or MODULE are the program's own. python -m tf_frame_legacy is the same command."""


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """The options before the script."""

    with_old_packages: bool = option(
        False, "give the program old NumPy, SciPy, Pillow, yaml.load, time.clock ..., too"
    )
    resource_variables: bool = option(
        False, "make resource variables; without it they are reference variables, as they were"
    )


def main(argv: Sequence[str]) -> int:
    """Runs the program; returns its exit code.

    Raises:
      ConfigError: a wrong option, or there is no such script.
      SystemExit: the program ended itself.
    """
    declared, additions = declared_options(RunOptions), declared_options(WatchOptions)
    if not argv or argv[0] in ("-h", "--help"):
        tables = group_text("Options", declared, {}), group_text("Additions", additions, {})
        report_help("\n\n".join([_USAGE, *tables]))
        return EXIT_OK if argv else EXIT_USAGE
    at = argv.index("-m") if "-m" in argv else len(argv)
    values, words = parse_words(argv[:at], [*declared, *additions], stops_at_word=True)
    program = _find_program(words, argv[at:])
    run_values = {o.name: values[o.name] for o in declared if o.name in values}
    watch_values = {name: values[name] for name in set(values) - set(run_values)}
    return _run(program, resolve(RunOptions, [run_values]), resolve(WatchOptions, [watch_values]))


def _find_program(words: Sequence[str], module: Sequence[str]) -> Program:
    if words:
        script, *arguments = [*words, *module]
        return find_script(script, arguments)
    if len(module) < 2:
        raise ConfigError("tf-frame legacy run takes SCRIPT, or -m MODULE")
    return find_module(module[1], module[2:])


def _run(program: Program, options: RunOptions, additions: WatchOptions) -> int:
    imports = Imports(
        program.project,
        old_packages=options.with_old_packages,
        resource_variables=options.resource_variables,
    )
    try:
        with _additions(additions, imports):
            program.run(imports)
    except TfFrameError as error:
        explanation = explain_error(error, imports)
        if explanation is None:
            raise
        complain(f"tf-frame: {explanation}")
        return EXIT_FAILED
    except Exception as error:
        explanation = explain_error(error, imports)
        if explanation is None:
            _print_traceback(error, imports)
        else:
            complain(f"tf-frame: {explanation}")
        return EXIT_FAILED
    return EXIT_OK


@contextlib.contextmanager
def _additions(options: WatchOptions, imports: Imports) -> Iterator[None]:
    """Adds what the options ask for to the program within the block."""
    if options == WatchOptions():
        yield
        return
    imports.start_tensorflow()
    from tf_frame_legacy.program.watch.watching import watching

    with watching(options):
        yield


def _print_traceback(error: BaseException, imports: Imports) -> None:
    """Prints the traceback as `python` does, without the frames of this command."""
    frames = error.__traceback__
    while frames and not imports.project.contains(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    report = traceback.TracebackException(type(error), error, frames or error.__traceback__)
    part: traceback.TracebackException | None = report
    while part is not None:
        part.stack[:] = [frame for frame in part.stack if frame.filename != importing.__file__]
        part = part.__cause__ or part.__context__
    sys.stdout.flush()
    sys.stderr.write("".join(report.format()))
