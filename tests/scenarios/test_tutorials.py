"""The tutorials of docs/tutorials, and the first example of docs/plugins.md, as a reader does them.

A `sh` block is a command in each line. A `python` or `toml` block is a file. Its first line has the
path, relative to the current folder of the commands before it. Other blocks are not run.
"""

import json
import re
import shlex
from pathlib import Path

import pytest

from plugin_environment import PluginEnvironment, style_problems

pytestmark = pytest.mark.process

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = DOCS / "tutorials"
FROM_CODE = ["from_estimator.md", "from_slim.md", "from_keras.md"]
NAMES = ["first_plugin.md", *FROM_CODE]
BLOCK = re.compile(r"^```(sh|python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(text, folder, perform):
    """Follows a tutorial as a reader does; returns the last folder, and output by command.

    Args:
      text: the tutorial.
      folder: where the reader begins.
      perform: takes environment, `sh` block and folder; returns the next folder, and output by
        command.
    """
    environment = PluginEnvironment(folder / "environment")
    outputs = {}
    for language, block in BLOCK.findall(text):
        if language != "sh":
            path = folder / block.splitlines()[0].removeprefix("# ")
            assert path.parent.is_dir()
            path.write_text(block, encoding="utf-8")
        else:
            folder, output = perform(environment, block, folder)
            outputs |= output
    return folder, outputs


def tutorial_text(name):
    return (TUTORIALS / name).read_text(encoding="utf-8")


def by_command(environment, block, folder):
    outputs = {}
    for command in block.splitlines():
        words = shlex.split(command)
        if words[0] == "cd":
            folder /= words[1]
            continue
        process = environment.run(*words, cwd=folder)
        assert process.returncode == 0, f"{command}\n{process.stdout}{process.stderr}"
        outputs[command] = process.stdout
    return folder, outputs


def in_a_shell(environment, block, folder):
    process = environment.run_script(f"{block}pwd", cwd=folder)
    assert process.returncode == 0, process.stdout + process.stderr
    return Path(process.stdout.splitlines()[-1]), {block: process.stdout}


@pytest.mark.slow
@pytest.mark.parametrize("tutorial", NAMES)
def test_the_commands_work_in_a_shell(tutorial, tmp_path):
    folder, _ = follow(tutorial_text(tutorial), tmp_path, in_a_shell)
    assert accuracy(folder / "runs/first") > 0.9


def accuracy(folder):
    return json.loads((folder / "result.json").read_text())["metrics"]["accuracy"]


def losses(output):
    return [float(loss) for loss in re.findall(r"^step .*loss (\S+)", output, re.MULTILINE)]


@pytest.mark.slow
def test_a_plugin_from_nothing(tmp_path):
    folder, outputs = follow(tutorial_text("first_plugin.md"), tmp_path, by_command)
    first, second = (
        text for command, text in outputs.items() if command.startswith("tf-frame run")
    )
    for output in (first, second):
        assert losses(output)[-1] < losses(output)[0] / 2
    # The tutorial shows 0.9958; other processors round otherwise.
    assert accuracy(folder / "runs/first") > 0.95
    assert accuracy(folder / "runs/second") > 0.7
    assert "passed" in outputs["pytest"]
    # The command says what comes next, and so does the tutorial.
    lines = outputs["tf-frame plugins new my-digits --kind model"].splitlines()
    next_commands = "cd my-digits", "pip install -e '.[test]'", "pytest"
    for command in (*next_commands, "tf-frame plugins check my_digits"):
        assert f"  {command}" in lines
    assert not style_problems(folder)


@pytest.mark.slow
@pytest.mark.parametrize("tutorial", FROM_CODE)
def test_a_plugin_from_code_that_is_there(tutorial, tmp_path):
    folder, outputs = follow(tutorial_text(tutorial), tmp_path, by_command)
    (run,) = (text for command, text in outputs.items() if command.startswith("tf-frame run"))
    assert losses(run)[-1] < losses(run)[0] / 2
    assert accuracy(folder / "runs/first") > 0.9
    # A command that fails has ended the test by now.
    assert " passed" in outputs["pytest tests/test_model.py"]
    assert not style_problems(folder)


@pytest.mark.slow
def test_the_first_example_of_the_contracts(tmp_path):
    (tmp_path / "my-line").mkdir()
    text, _, contracts = (
        (DOCS / "plugins.md").read_text(encoding="utf-8").partition("## The contracts")
    )
    checks = re.findall(r"^tf-frame plugins check .*$", contracts, re.MULTILINE)
    commands = "\n".join(check.partition("  #")[0] for check in checks)
    _, outputs = follow(f"{text}\n```sh\n{commands}\n```\n", tmp_path, by_command)
    assert any(re.search(r"slope +-(3\.0|2\.99)", output) for output in outputs.values())
    summaries = [outputs[command].splitlines()[-1] for command in commands.splitlines()]
    assert summaries == ["14 ok, 1 skipped", "11 ok, 1 skipped"]


def test_every_tutorial_is_followed():
    assert sorted(path.name for path in TUTORIALS.glob("*.md")) == sorted(NAMES)
