import sys

import pytest
import tensorflow.compat.v1 as tf

from sessions import train_steps
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.errors import ConfigError, PluginError
from tf_frame.graph.graph_hook import load_graph_hook, run_graph_hooks
from tf_frame.plugin import InputInfo, Model
from tf_frame.plugin.contracts import NoParams
from tf_frame.testing.toy import ToyModel, build_toy_graph

pytestmark = pytest.mark.usefixtures("filtered_tracebacks")


HOOKS = """
import tensorflow.compat.v1 as tf

NUMBER = 3

class Edits:
    @staticmethod
    def add():
        tf.add_to_collection("calls", "named")

def add():
    tf.get_variable("of_hook", [])
    tf.constant(1.0, name="constant_of_hook")
    tf.add_to_collection("calls", "named")

def fail():
    tf.constant([[1.0], [1.0, 2.0]])
"""


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        tf.train.create_global_step()
        yield graph


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A current folder with a module of hooks, which is not on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "hooks_of_test.py").write_text(HOOKS)
    yield tmp_path
    for name in ("hooks_of_test", "broken_hooks_of_test", "importing_hooks_of_test"):
        sys.modules.pop(name, None)


class Recording(Model):
    def graph_hook(self):
        tf.add_to_collection("calls", "model")


def run(model=None, deployment=None, **options):
    deployment = deployment or DeploymentConfig(clone_device_type="CPU")
    model = model or Recording(params=NoParams(), info=None)
    with variables_placed(deployment):
        run_graph_hooks(model=model, config=RunOptions(**options), deployment=deployment)


def test_hooks_are_found_in_the_current_folder_and_in_packages(folder):
    assert load_graph_hook("hooks_of_test:add").__code__.co_filename == str(
        folder / "hooks_of_test.py"
    )
    assert load_graph_hook("os.path:join") is __import__("os").path.join
    assert load_graph_hook("hooks_of_test:Edits.add").__name__ == "add"
    (folder / "colorsys.py").write_text("def rgb_to_hsv(): pass")
    assert load_graph_hook("colorsys:rgb_to_hsv")(0, 0, 0) == (0.0, 0.0, 0)


@pytest.mark.parametrize("name", ["hooks_of_test", "hooks_of_test:", ":add", "a/b.py:f", "a:b:c"])
def test_a_malformed_name_is_refused(name):
    with pytest.raises(ConfigError, match=f"--graph_hook {name}: expected module:function"):
        load_graph_hook(name)


@pytest.mark.parametrize("name", ["no_such_module_here:f", "no_such_module_here.sub:f"])
def test_a_missing_module_is_named_with_the_folder(name, folder):
    with pytest.raises(ConfigError, match="no module 'no_such_module_here'") as caught:
        load_graph_hook(name)
    assert str(folder) in str(caught.value)
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_modules_that_cannot_be_imported_and_missing_functions_are_named(folder):
    (folder / "importing_hooks_of_test.py").write_text("\nimport no_such_module_here\n")
    with pytest.raises(ConfigError, match=r"importing_hooks_of_test cannot be imported") as caught:
        load_graph_hook("importing_hooks_of_test:f")
    assert "importing_hooks_of_test.py, line 2" in str(caught.value)
    assert "No module named 'no_such_module_here'" in str(caught.value)
    (folder / "broken_hooks_of_test.py").write_text("x = 1\nraise OSError('no licence')\n")
    with pytest.raises(ConfigError, match="cannot be imported: OSError: no licence") as caught:
        load_graph_hook("broken_hooks_of_test:f")
    assert "broken_hooks_of_test.py, line 2" in str(caught.value)
    assert isinstance(caught.value.__cause__, OSError)
    with pytest.raises(ConfigError, match="hooks_of_test.py has no 'subtract'") as caught:
        load_graph_hook("hooks_of_test:subtract")
    assert isinstance(caught.value.__cause__, AttributeError)
    with pytest.raises(ConfigError, match="NUMBER is 3 of type int; it must be a function"):
        load_graph_hook("hooks_of_test:NUMBER")


def test_the_model_comes_before_the_option_and_needs_no_hook(graph):
    run(model=object())
    assert graph.get_collection("calls") == []
    run(graph_hook="hooks_of_test:add")
    assert graph.get_collection("calls") == ["model", "named"]
    assert graph.get_tensor_by_name("constant_of_hook:0").device == "/device:CPU:0"


def test_variables_of_hooks_and_quantisation_of_clones():
    run(graph_hook="hooks_of_test:add", deployment=DeploymentConfig(num_ps_tasks=2))
    (variable,) = [v for v in tf.global_variables() if v.op.name == "of_hook"]
    assert variable.device == "/job:ps/task:0/device:CPU:0"
    with pytest.raises(ConfigError, match=r"^Quantization doesn't support multi-clone yet\.$"):
        run(
            model=Layer(params=NoParams(), info=None),
            deployment=DeploymentConfig(num_clones=2),
            quantize_delay_step=0,
        )


def test_failing_hooks_are_named(folder):
    with pytest.raises(PluginError, match="--graph_hook hooks_of_test:fail raised ValueError") as e:
        run(graph_hook="hooks_of_test:fail")
    assert f"({folder / 'hooks_of_test.py'}, line 17)" in str(e.value)
    assert isinstance(e.value.__cause__, ValueError)

    class Failing(Model):
        def graph_hook(self):
            raise KeyError("layer_7")

    with pytest.raises(KeyError, match="layer_7"):
        run(model=Failing(params=NoParams(), info=None))


class Layer(Model):
    """A hook that brings something to quantise: quantisation comes last."""

    def graph_hook(self):
        tf.nn.relu(tf.matmul(tf.ones([2, 3]), tf.get_variable("layer/weights", [3, 4])))


@pytest.mark.parametrize(("delay", "ranges"), [(-1, 0), (0, 4), (5, 4)])
def test_quantisation_comes_last_and_only_when_asked_for(graph, delay, ranges):
    run(model=Layer(params=NoParams(), info=None), quantize_delay_step=delay)
    assert len(graph.get_collection("quant_vars")) == ranges
    assert len(graph.get_collection(tf.GraphKeys.SUMMARIES)) == ranges


class Watching(ToyModel):
    """Counts, in its hook, the products of the clones; an update op adds them up."""

    def graph_hook(self):
        types = [op.type for op in tf.get_default_graph().get_operations()]
        tf.add_to_collection("products", types.count("MatMul"))
        tf.add_to_collection("updates", sum("Apply" in kind for kind in types))
        counter = tf.get_variable(
            "counter", [], trainable=False, initializer=tf.zeros_initializer()
        )
        update = tf.assign_add(counter, 1.0)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, getattr(update, "op", update))


def test_the_hook_sees_the_clones_but_no_update_and_may_add_update_ops():
    model = Watching(params=Watching.Params(), info=InputInfo())
    graph = build_toy_graph(RunOptions(train_batch_size=8), model=model, optimizer="sgd")
    assert graph.graph.get_collection("products") == [1]
    assert graph.graph.get_collection("updates") == [0]
    assert train_steps(graph, 3)[0]["counter"] == 3.0
