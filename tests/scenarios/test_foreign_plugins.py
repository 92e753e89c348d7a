"""Plugins of other people: one that works, installed by pip, and seven that do not."""

import json
import os
import subprocess
import sys

import pytest

import forked
from slow_cases import slow_but
from tf_frame.testing.distributions import write_distribution, write_toy_distribution

pytestmark = pytest.mark.process

SETUP = """
from setuptools import setup
setup(
    name="my-line", version="2.5", py_modules=["my_line"], install_requires=["tf-frame>=0.1"],
    entry_points={"tf_frame.models": ["line = my_line:Line"],
                  "tf_frame.inputs": ["points = my_line:Points"]},
)
"""
MODULE = '''
import dataclasses
from tf_frame import Input, InputInfo, Mode, Model, ModelOutput, option


class Points(Input):
    """Points on the line y = slope x + 1."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        slope: float = option(2.0, "slope of the line")

    def dataset(self, mode, context):
        import tensorflow as tf

        x = tf.reshape(tf.linspace(-1.0, 1.0, 32), [32, 1])
        dataset = tf.data.Dataset.from_tensor_slices((x, self.params.slope * x + 1.0))
        if mode == Mode.TRAIN:
            dataset = dataset.repeat()
        return dataset.batch(context.batch_size)


class Line(Model):
    """A line through points."""

    default_input = "points"
    run_defaults = {"max_steps": 200, "train_batch_size": 16, "learning_rate": 0.05}

    def build(self, features, labels, mode):
        import tensorflow.compat.v1 as tf

        slope = tf.get_variable("slope", [1, 1])
        offset = tf.get_variable("offset", [1], initializer=tf.zeros_initializer())
        error = tf.matmul(features, slope) + offset - labels
        tf.losses.add_loss(tf.reduce_mean(tf.square(error)))
        return ModelOutput(metrics={"slope": tf.metrics.mean(slope)})
'''


def tf_frame(*words, site, cwd, run=forked.run):
    return run(
        [sys.executable, "-m", "tf_frame", *words],
        env={**os.environ, "PYTHONPATH": str(site)},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=200,
    )


@pytest.mark.slow
def test_a_plugin_installed_by_pip_runs_under_its_name(tmp_path):
    source, site = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    (source / "setup.py").write_text(SETUP)
    (source / "my_line.py").write_text(MODULE)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(site), str(source)], check=True, timeout=120)
    words = ("--plugin", "line", "--model_dir", "out", "--input.slope", "-3")
    process = tf_frame("run", *words, site=site, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert "line (my-line 2.5)" in process.stdout
    result = json.loads((tmp_path / "out/result.json").read_text())
    assert result["metrics"]["slope"] == pytest.approx(-3, abs=0.01)


@pytest.mark.slow
def test_a_plugin_that_imports_tensorflow_at_its_top_works_without_chatter(tmp_path):
    module = "import tensorflow\nfrom tf_frame.testing.toy import ToyModel as Slow\n"
    (tmp_path / "slow_to_load.py").write_text(module)
    write_distribution(tmp_path, "slow-one", {"tf_frame.models: slow": "slow_to_load:Slow"})
    words = ("plugins", "show", "slow")
    process = tf_frame(*words, site=tmp_path, cwd=tmp_path, run=subprocess.run)
    assert (process.returncode, process.stderr) == (0, "")
    assert "--model.l2 FLOAT" in process.stdout


GOOD = """
from tf_frame import Model
class Good(Model):
    def build(self, features, labels, mode): ...
"""
# name -> source of its module, and a word of the cause that asking for it must name
BROKEN = {
    "raises_import_error": ("import a_module_that_is_missing", "ModuleNotFoundError"),
    "raises_assertion": ("assert 1 == 2, 'sums are off'", "AssertionError: sums are off"),
    "exits": ("raise SystemExit(3)", "SystemExit: 3"),
    "lacks_attribute": ("", "AttributeError"),
    "is_no_class": ("Good = 42", "expected a class, found 42 of type int"),
    "too_new": (GOOD, "it needs tf-frame>=9"),
}


@pytest.fixture(scope="module")
def broken_site(tmp_path_factory):
    site = tmp_path_factory.mktemp("broken")
    for name, (source, _) in BROKEN.items():
        (site / f"{name}.py").write_text(source)
        requires = ["tf-frame>=9"] if name == "too_new" else ["tf-frame"]
        entry_points = {f"tf_frame.models: {name}": f"{name}:Good"}
        write_distribution(site, f"dist-{name}", entry_points, requires=requires)
    (site / "twin.py").write_text(GOOD)
    for owner in ("first-owner", "second-owner"):
        write_distribution(site, owner, {"tf_frame.models: twin": "twin:Good"})
    write_toy_distribution(site)
    return site


@pytest.mark.slow
def test_broken_plugins_do_not_break_the_list_and_a_check_says_what_is_wrong(broken_site, tmp_path):
    words, where = ("plugins", "list", "--json"), {"site": broken_site, "cwd": tmp_path}
    process = tf_frame(*words, **where)
    assert process.returncode == 0, process.stderr
    states = [(row["name"], row["state"]) for row in json.loads(process.stdout)]
    assert ("deeplab", "ok") in states
    assert ("too_new", "incompatible") in states
    assert states.count(("twin", "conflict")) == 2
    process = tf_frame(*words, "--check", **where)
    assert process.returncode == 2
    problems = {row["name"]: row["problem"] for row in json.loads(process.stdout)}
    assert problems["deeplab"] == ""
    for name, (_, cause) in BROKEN.items():
        assert cause in problems[name]


@pytest.mark.parametrize("name", slow_but((0, -1), [*BROKEN, "twin"]))
def test_asking_for_a_broken_plugin_is_one_error_that_helps(broken_site, tmp_path, name):
    process = tf_frame("run", "--plugin", name, site=broken_site, cwd=tmp_path)
    assert process.returncode == 2
    cause = BROKEN[name][1] if name in BROKEN else "also taken by twin:Good of second-owner 1.0"
    distribution = f"dist-{name} 1.0" if name in BROKEN else "first-owner 1.0"
    for expected in (f"entry point tf_frame.models: {name}", distribution, cause, "remedy: "):
        assert expected in process.stderr
    assert "Traceback" not in process.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_broken_plugins_do_not_break_a_run_of_another(broken_site, tmp_path):
    words = ("--plugin", "toy", "--max_steps", "2", "--noevaluate", "--model_dir", "out")
    process = tf_frame("run", *words, site=broken_site, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert json.loads((tmp_path / "out/result.json").read_text())["global_step"] == 2
