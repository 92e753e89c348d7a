"""Sub-commands that packages bring, through `tf-frame` itself."""

import sys

import pytest

from tf_frame.cli.completion import candidates
from tf_frame.cli.main import COMMANDS, main
from tf_frame.plugin.kinds import COMMAND
from tf_frame.testing.distributions import write_distribution

PLUGINS = """
import argparse
import dataclasses
import sys
from tf_frame import Command, option
from tf_frame.errors import DataError


class Hello(Command):
    '''Greets everybody.

    In one line each.
    '''

    usage = "NAME ... [OPTIONS]"

    @dataclasses.dataclass(frozen=True)
    class Params:
        loud: bool = option(False, "in capitals")
        word: str = option("hello", "the greeting", choices=("hello", "bye"))

    def run(self, words):
        for name in words:
            text = f"{self.params.word} {name}"
            print(text.upper() if self.params.loud else text)
        return len(words)


class Wrapper(Hello):
    passes_words_on = True


class Ends(Command):
    def run(self, words):
        if words == ["data"]:
            raise DataError("no such data")
        if words == ["index"]:
            return [][0]
        if words == ["none"]:
            return None
        if words == ["parse"]:
            argparse.ArgumentParser("ends").parse_args(["--wrong"])
        sys.exit({"exit": None, "three": 3}.get(words[0], words[0]))


class Bare:
    '''Inherits nothing.'''

    Params = Command.Params

    def __init__(self, *, params):
        pass

    def run(self, words):
        return 0
"""


@pytest.fixture(autouse=True)
def site(tmp_path, monkeypatch):
    """The commands hello, wrapper, ends, bare, and run, a name of tf-frame's own."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "command_test_plugins.py").write_text(PLUGINS)
    names = {name: name.title() for name in ("hello", "wrapper", "ends", "bare")} | {"run": "Hello"}
    targets = {f"tf_frame.commands: {k}": f"command_test_plugins:{v}" for k, v in names.items()}
    write_distribution(site, "greetings", targets, summary="Greets in many ways")
    monkeypatch.syspath_prepend(str(site))
    # A package of this repository has a command as well.
    monkeypatch.setenv("TF_FRAME_DISABLE_PLUGINS", "tf-frame-legacy,tf-frame-sweep")
    monkeypatch.delitem(sys.modules, "command_test_plugins", raising=False)
    return site


@pytest.fixture
def run(capsys):
    """Runs `tf-frame WORDS`; returns exit code and all output."""

    def run(*words):
        code = main(words)
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def test_options_are_parsed_words_passed_and_the_result_is_the_exit_code(run):
    assert run("hello", "you", "--loud", "me", "--word=bye") == (2, "BYE YOU\nBYE ME\n")
    assert run("hello") == (0, "")
    assert run("bare") == (0, "")


def test_words_can_be_passed_on_unread(run):
    words = ("--loud", "run", "--word", "--help")
    assert run("wrapper", *words) == (3, "HELLO RUN\nHELLO --WORD\nHELLO --HELP\n")
    assert run("wrapper", "--", "--x") == (1, "hello --x\n")


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("you", "--help")])
def test_help_is_the_docstring_and_the_options(run, words):
    code, text = run("hello", *words)
    assert code == 0
    assert text.startswith("usage: tf-frame hello NAME ... [OPTIONS]\n\nGreets everybody.\n\nIn")
    assert "--[no]loud\n      in capitals [false]" in text and "--word hello|bye" in text
    assert run("bare", "--help") == (0, "usage: tf-frame bare [OPTIONS]\n\nInherits nothing.\n")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("hello", "--lod"), 2, "unknown option --lod; did you mean --loud?"),
        (("hello", "--word", "hi"), 2, "--word: 'hi' is not known"),
        (("wrapper", "--lod", "run"), 2, "unknown option --lod"),
        (("ends", "data"), 2, "tf-frame: no such data"),
        (("ends", "index"), 2, "run() of the command 'ends' of greetings 1.0 raised IndexError"),
        (("ends", "index"), 2, 'command_test_plugins.py", line 38'),
        (("ends", "none"), 2, "run() of the command 'ends' of greetings 1.0 returned None; it"),
        (("ends", "parse"), 2, "unrecognized arguments: --wrong"),
        (("ends", "exit"), 0, ""),
        (("ends", "three"), 3, ""),
        (("ends", "a reason"), 1, "a reason"),
        (("helo",), 2, "unknown command 'helo'; did you mean 'hello'?"),
        (("zzz",), 2, "completion, bare, ends, hello, wrapper"),
    ],
)
def test_a_command_that_fails_is_told_without_a_traceback(run, words, code, message):
    found, text = run(*words)
    assert (found, "Traceback" in text) == (code, False)
    assert message in text


def test_the_help_of_tf_frame_lists_commands_without_importing_them(run):
    code, text = run("--help")
    section = text.partition("commands of packages:\n")[2].partition("\n\n")[0]
    assert code == 0 and "command_test_plugins" not in sys.modules
    names = ("bare", "ends", "hello", "wrapper")
    assert section.splitlines() == [f"  {name:<12}Greets in many ways" for name in names]


def test_a_disabled_command_is_unknown_and_a_broken_list_leaves_the_help(run, monkeypatch, site):
    monkeypatch.setenv("TF_FRAME_DISABLE_PLUGINS", "greetings,tf-frame-legacy,tf-frame-sweep")
    assert "commands of packages" not in run("--help")[1]
    assert run("hello")[0] == 2
    monkeypatch.delenv("TF_FRAME_DISABLE_PLUGINS")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(site))
    (site / "tf-frame").mkdir()
    (site / "tf-frame" / "plugins.yaml").write_text("[")
    assert run("--help")[0] == 0


def test_names_of_tf_frames_own_commands_are_refused(run):
    assert set(COMMAND.reserved) == {*COMMANDS, "help"}
    assert "incompatible: tf-frame itself has a command 'run'\n" in run("plugins", "list")[1]
    code, text = run("plugins", "why", "run")
    assert code == 2 and "cause        tf-frame itself has a command 'run'" in text
    assert "tell the authors of greetings" in text
    assert run("greetings:run")[0] == 2
    assert run("plugins", "new", "status", "--kind", "command")[0] == 2
    assert run("run", "--max_steps", "0")[1].startswith("tf-frame: --max_steps: 0 is out of range")


def test_two_packages_with_a_command_of_the_same_name_conflict(run, site):
    write_distribution(site, "other", {"tf_frame.commands: hello": "command_test_plugins:Hello"})
    assert "  hello       conflict; see tf-frame plugins why hello\n" in run("--help")[1]
    code, text = run("hello", "you")
    assert code == 2 and "use greetings:hello or other:hello" in text
    assert run("other:hello", "you") == (1, "hello you\n")


def test_a_shell_completes_names_and_options():
    assert candidates(["he"]) == ["hello"]
    assert candidates(["hello", "--l"]) == ["--loud"]
    assert candidates(["hello", "--word", ""]) == ["hello", "bye"]
    assert candidates(["none", "--l"]) == []


def test_plugins_show_and_check_know_commands(run):
    code, text = run("plugins", "show", "hello", "--all")
    assert code == 0 and "tf_frame.commands: command_test_plugins:Hello" in text
    assert "--[no]loud" in text
