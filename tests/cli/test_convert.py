"""`tf-frame convert` with a converter of another package."""

import json

import pytest

from source_plugins import install_source
from tf_frame.cli.convert import main
from tf_frame.errors import EXIT_INTERRUPTED, EXIT_USAGE

PLUGIN = """
import dataclasses
import json
import pathlib

from tf_frame import Converter, option


class Words(Converter):
    '''Text files, a word each.

    More on that.
    '''

    @dataclasses.dataclass(frozen=True)
    class Params:
        most: int = option(3, "words at most", min=1)

    def convert(self, source, output, report):
        if source == "stop":
            raise KeyboardInterrupt
        pathlib.Path(output).write_text(json.dumps([source, self.params.most]))
        report("written")
"""


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    """The converter words, and lost, which has no class."""
    install_source(monkeypatch, tmp_path, "convert-test", PLUGIN, converters="Words Lost")


def test_a_converter_gets_its_options_and_reports(tmp_path, capsys):
    assert main(["words", "a", "--most", "5", "b"]) == 0
    assert json.loads((tmp_path / "b").read_text()) == ["a", 5]
    assert capsys.readouterr().out == "written\n"


def test_an_interrupt_says_that_the_command_goes_on(capsys):
    assert main(["words", "stop", "b"]) == EXIT_INTERRUPTED
    assert "the same command goes on from here" in capsys.readouterr().err


def test_the_help_lists_converters_and_names_broken_ones(capsys):
    assert main([]) == EXIT_USAGE
    text = capsys.readouterr().out
    assert "words  " in text and "Text files, a word each." in text
    assert "broken: " in text and "Lost" in text
    assert main(["words", "--help"]) == 0
    text = capsys.readouterr().out
    assert "More on that." in text and "--most INT" in text and "(1 or more) [3]" in text
