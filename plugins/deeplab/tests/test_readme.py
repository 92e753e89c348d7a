import re
import shlex
from pathlib import Path

import pytest

from tf_frame.command_line.parsing import parse_command_line

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
RUNS = re.findall(r"^ *tf-frame run (.*)$", README.replace("\\\n", " "), re.MULTILINE)


def test_the_readme_has_commands():
    assert len(RUNS) > 5


@pytest.mark.parametrize("command", RUNS)
def test_the_options_of_a_command_in_the_readme_are_known(command):
    setup = parse_command_line(shlex.split(command, comments=True)).setup()
    assert setup.model.name == "deeplab"
