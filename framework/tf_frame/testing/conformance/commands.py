"""`CommandConformance`, `ConverterConformance`: suites for plugins that bring commands."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Sequence

from tf_frame.command_line.package_command import run_command
from tf_frame.errors import EXIT_OK, EXIT_USAGE, PluginError, TfFrameError
from tf_frame.plugin.kinds import COMMAND, CONVERTER
from tf_frame.testing.conformance.outcomes import describe_error, fails_as
from tf_frame.testing.conformance.side_effects import loading_effects
from tf_frame.testing.conformance.suite import Conformance

_WRONG_OPTION = "--there_is_no_such_option"


class CommandConformance(Conformance):
    """The checks of commands, without data."""

    kind = COMMAND

    def test_starts_without_tensorflow(self) -> None:
        """Loading the command does not import TensorFlow, so that help and errors are quick."""
        assert "tensorflow" not in loading_effects(self.imported().cls), (
            "the module of the command imports TensorFlow, so that its help takes seconds; import "
            "it inside run()"
        )

    def test_help_says_what_the_command_does(self) -> None:
        """`--help` prints the docstring of the class, which a user needs, and ends with 0."""
        assert self.imported().cls.__doc__, (
            "the class has no docstring; it is what tf-frame NAME --help shows above the options"
        )
        with fails_as("--help fails"):
            code, printed = self._run(["--help"])
        assert code == EXIT_OK and printed.strip(), (
            f"--help ends with {code} and prints {printed!r:.80}; run() must not be called for it"
        )

    def test_refuses_a_wrong_option(self) -> None:
        """A wrong option ends the command with exit code 2 and one line for the user."""
        code, _ = self._run([_WRONG_OPTION])
        assert code == EXIT_USAGE, f"{_WRONG_OPTION} ends the command with {code}; expected 2"

    def test_ends_well_with_a_word_that_makes_no_sense(self) -> None:
        """A path that does not exist ends the command with an exit code, not with a traceback."""
        with tempfile.TemporaryDirectory() as folder:
            self._run([os.path.join(folder, "missing")])

    def _run(self, words: Sequence[str]) -> tuple[int, str]:
        """Returns exit code and output of the command as `tf-frame` runs it."""
        plugin, printed = self.loaded(), io.StringIO()
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                code = run_command(plugin, words)
        except TfFrameError as error:
            assert not isinstance(error, PluginError), str(error)
            return error.exit_code, f"{printed.getvalue()}{error}"
        except Exception as error:
            raise AssertionError(
                f"tf-frame NAME {' '.join(words)} ends by {describe_error(error)}; raise "
                "tf_frame.errors.ConfigError or DataError with one line for the user"
            ) from error
        return code, printed.getvalue()


class ConverterConformance(Conformance):
    """The checks of converters, without data."""

    kind = CONVERTER

    def test_refuses_a_source_that_is_missing(self) -> None:
        """A missing source ends the conversion by an error for the user, such as DataError."""
        converter = self.made_plugin()
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "missing")
            try:
                converter.convert(source, os.path.join(folder, "output"), lambda line: None)
            except TfFrameError:
                return
            except Exception as error:
                raise AssertionError(
                    f"a source that is missing ends convert() by {describe_error(error)}; raise "
                    "tf_frame.errors.DataError with one line for the user"
                ) from error
        raise AssertionError(
            "convert() takes a source that is missing; raise tf_frame.errors.DataError"
        )
