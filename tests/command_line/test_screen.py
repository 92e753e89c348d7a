import io
import subprocess
import sys

import pytest

from slow_cases import slow_but
from tf_frame.command_line.screen import (
    OutputError,
    complain,
    emphasised,
    output_may_fail,
    prepare_streams,
    report,
)
from tf_frame.text import columns


def test_columns_are_as_wide_as_their_widest_cell():
    text = columns([("a", "bb", "c"), ("aaaa", "b", "")], indent=1)
    assert text.splitlines() == [" a     bb  c", " aaaa  b"]
    assert columns([]) == ""


def test_emphasis_is_for_terminals_only(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert emphasised("x") == "\033[1mx\033[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert emphasised("x") == "x"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert emphasised("x") == "x"


def test_names_cannot_steer_the_terminal(capsys):
    report("a\x1b[2J\tb\n\033[1mbold\x07\033[0m \u202e\033[1mfile\n\033[0m\033[1m")
    complain("\x1b]0;title\x07")
    output = capsys.readouterr()
    bold = "\033[1mbold\\u0007\033[0m \\u202e\033[1mfile\n\033[0m\\u001b[1m"
    assert output.out == f"a\\u001b[2J\tb\n{bold}\n"
    assert output.err == "\\u001b]0;title\\u0007\n"


def test_an_error_of_endless_length_is_cut_in_the_middle(capsys):
    complain(f"a.txt: {'9' * 5000}; save it\nsecond {'x' * 100}")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("a.txt: 9") and first.endswith("9; save it")
    assert " ... 4016 more characters ... " in first
    assert second == f"second {'x' * 100}"


def test_output_that_cannot_be_written_is_an_error_for_the_user(monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(OutputError, match="standard output cannot be written: No space left"):
            report("x")
        full.flush()  # As the interpreter does at its end.


def test_work_goes_on_without_output_and_that_is_said_once(monkeypatch, capsys):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with output_may_fail():
            report("x")
            report("y")
        assert sys.stdout is full
    text = "tf-frame: standard output cannot be written: No space left on device; going on without"
    assert capsys.readouterr().err == f"{text} it\n"


def test_an_error_message_that_cannot_be_written_is_no_error(monkeypatch):
    with open("/dev/full", "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        complain("x")


def test_what_an_encoding_does_not_have_is_written_with_a_backslash(monkeypatch):
    for name in ("stdout", "stderr"):
        stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        monkeypatch.setattr(sys, name, stream)
    prepare_streams()
    report("café \udcff")
    complain("Straße")
    assert sys.stdout.buffer.getvalue() == b"caf\\xe9 \\udcff\n"
    assert sys.stderr.buffer.getvalue() == b"Stra\\xdfe\n"


@pytest.mark.process
@pytest.mark.parametrize(
    ("redirection", "code", "message"),
    slow_but(
        (0, 2),
        [
            ("plugins list >&-", 0, ""),
            ("plugins list <&- >&- 2>&-", 0, ""),
            (
                "plugins list > /dev/full",
                1,
                "tf-frame: standard output cannot be written: No space",
            ),
            ("--help > /dev/full", 1, "tf-frame: standard output cannot be written: No space"),
            ("plugins list | true", 0, ""),
            ("nonsense 2>&-", 2, ""),
            ("nonsense 2> /dev/full", 2, ""),
        ],
        several=True,
    ),
)
def test_closed_and_full_output_is_no_traceback(redirection, code, message):
    command = f"set -o pipefail; {sys.executable} -m tf_frame {redirection}"
    process = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (process.returncode, process.stdout) == (code, "")
    assert process.stderr.startswith(message)
    assert len(process.stderr.splitlines()) == bool(message)
