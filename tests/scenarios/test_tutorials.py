"""The tutorials of docs/tutorials: their commands, one by one, with the files that they show.

A `sh` block is a command in each line. A `python` block is a file, whose path is in its first line,
relative to the folder that the commands before it are in. Other blocks are not run.
"""

import json
import re
import shlex
from pathlib import Path

import pytest

from plugin_environment import PluginEnvironment

pytestmark = pytest.mark.process

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(tutorial, folder):
    """Does what a reader of a tutorial does; returns the last folder, and output by command."""
    environment = PluginEnvironment(folder / "environment")
    shown = {}
    for language, block in BLOCK.findall((TUTORIALS / tutorial).read_text(encoding="utf-8")):
        if language == "python":
            path = folder / block.splitlines()[0].removeprefix("# ")
            assert path.parent.is_dir()
            path.write_text(block, encoding="utf-8")
            continue
        for command in block.splitlines():
            words = shlex.split(command)
            if words[0] == "cd":
                folder /= words[1]
                continue
            process = environment.run(*words, cwd=folder)
            assert process.returncode == 0, f"{command}\n{process.stdout}{process.stderr}"
            shown[command] = process.stdout
    return folder, shown


def accuracy(folder):
    return json.loads((folder / "result.json").read_text())["metrics"]["accuracy"]


def losses(output):
    return [float(loss) for loss in re.findall(r"^step .*loss (\S+)", output, re.MULTILINE)]


def test_a_plugin_from_nothing(tmp_path):
    folder, shown = follow("first_plugin.md", tmp_path)
    first, second = (text for command, text in shown.items() if command.startswith("tf-frame run"))
    for output in (first, second):
        assert losses(output)[-1] < losses(output)[0] / 2
    # The tutorial shows 0.9958; other processors round otherwise.
    assert accuracy(folder / "runs/first") > 0.95
    assert accuracy(folder / "runs/second") > 0.7
    assert "passed" in shown["pytest"]
    # The command says what comes next, and so does the tutorial.
    said = [
        line.strip() for line in shown["tf-frame plugins new my-digits --kind model"].splitlines()
    ]
    assert {"cd my-digits", "pip install -e '.[test]'", "pytest"} <= set(said)
    assert "tf-frame plugins check my_digits" in said


@pytest.mark.parametrize("tutorial", ["from_estimator.md", "from_slim.md", "from_keras.md"])
def test_a_plugin_from_code_that_is_there(tutorial, tmp_path):
    folder, shown = follow(tutorial, tmp_path)
    (run,) = (text for command, text in shown.items() if command.startswith("tf-frame run"))
    assert losses(run)[-1] < losses(run)[0] / 2
    assert accuracy(folder / "runs/first") > 0.9


def test_every_tutorial_is_followed():
    names = {path.name for path in TUTORIALS.glob("*.md")}
    assert names == {"first_plugin.md", "from_estimator.md", "from_slim.md", "from_keras.md"}
