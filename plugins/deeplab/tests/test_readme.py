import re
import shlex
import sys
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame.command_line.parsing import parse_command_line

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
RUNS = re.findall(r"^ *tf-frame run (.*)$", README.replace("\\\n", " "), re.MULTILINE)


@pytest.mark.process
def test_the_lines_that_load_a_saved_model_find_it_where_the_export_writes_it(tmp_path):
    (program,) = re.findall(r"```python\n(.*?exported.*?)```", README, re.DOTALL)
    # `tf-frame export --output exported` makes such a folder; test_export.py makes a real one.
    with tf.Graph().as_default(), tf.Session() as session:
        files = tf.placeholder(tf.string, [None])
        found = {name: tf.strings.length(files) for name in ("semantic", "probabilities")}
        folder = str(tmp_path / "exported" / "1795933974")
        tf.saved_model.simple_save(session, folder, {"image_bytes": files}, found)
    (tmp_path / "photo.jpg").write_bytes(b"12345")
    shows = "assert found['semantic'].numpy() == [5]"
    done = forked.run(
        [sys.executable, "-c", f"{program}\n{shows}"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_readme_has_commands():
    assert len(RUNS) > 5


@pytest.mark.parametrize("command", RUNS)
def test_the_options_of_a_command_in_the_readme_are_known(command):
    setup = parse_command_line(shlex.split(command, comments=True)).setup()
    assert setup.model.name == "deeplab"
