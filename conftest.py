"""Imports TensorFlow once and quietly; fixtures of all tests."""

import gc
import os

import pytest

from tf_frame.tensorflow_log import quiet_import

before = dict(os.environ)
with quiet_import():
    import tensorflow
    from tensorflow.python.util import tf_stack

    import variable_modes
# Processes that tests start shall be as a user's.
os.environ.clear()
os.environ.update(before)
# Tests look for whole sentences; tests of wrapped lines set a width.
os.environ["COLUMNS"] = "1000"

# Building graphs is most of what the tests do: a collection after each 700 new objects, and a
# wrapper around each function of TensorFlow that shortens tracebacks, are a sixth of its time.
gc.set_threshold(100_000, 10, 10)
tensorflow.debugging.disable_traceback_filtering()


def pytest_collection_finish():
    """Leaves objects from before the first test, such as TensorFlow's, out of collections."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def graphs_as_built():
    """Sessions of the tests' own processes run graphs as they were built, without optimising them.

    Optimising a graph that is run for a few steps takes longer than all its steps. A session whose
    configuration names a rewrite option, beside the number of passes that is our default, optimises
    as that says, and so does every process that a test starts.
    """
    from tensorflow.python.client import pywrap_tf_session as client

    make_options = client.TF_NewSessionOptions

    def make_options_without_optimising(target=None, config=None):
        if config is not None:
            plain = type(config)()
            plain.CopyFrom(config)
            rewrites = plain.graph_options.rewrite_options
            rewrites.ClearField("meta_optimizer_iterations")
            if not rewrites.ListFields():
                rewrites.disable_meta_optimizer = True
                config = plain
        return make_options(target=target, config=config)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "TF_NewSessionOptions", make_options_without_optimising)
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_stack():
    """Gives all operations the stack of this fixture; returns the function that looks a stack up.

    Under some forty frames of pytest, looking it up is a fifteenth of building a graph.
    """
    look_up = tf_stack.extract_stack
    shared = look_up()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tf_stack, "extract_stack", lambda stacklevel=1: shared)
        yield look_up


@pytest.fixture
def own_stacks(shared_stack, monkeypatch):
    """Gives each operation its own stack, as TensorFlow does for a user."""
    monkeypatch.setattr(tf_stack, "extract_stack", shared_stack)


@pytest.fixture
def filtered_tracebacks():
    """Tracebacks without TensorFlow's own frames, as TensorFlow makes them for a user."""
    tensorflow.debugging.enable_traceback_filtering()
    yield
    tensorflow.debugging.disable_traceback_filtering()


@pytest.fixture(autouse=True)
def log_level():
    """Takes back the level that a command in this process sets, for processes of later tests."""
    yield
    os.environ.pop("TF_CPP_MIN_LOG_LEVEL", None)
    os.environ.update({k: v for k, v in before.items() if k == "TF_CPP_MIN_LOG_LEVEL"})


@pytest.fixture
def graph():
    """A default graph for the length of a test."""
    with tensorflow.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def reference_variables():
    """Reference variables (`VariableV2`) for the length of a test."""
    tensorflow.compat.v1.disable_resource_variables()
    yield
    tensorflow.compat.v1.enable_resource_variables()


# Tests of updates, checkpoints and the old names have reference variables by default, too.
variable_mode = variable_modes.variable_mode_fixture(on_demand="reference")


@pytest.fixture(scope="session")
def toy_environment(tmp_path_factory):
    """Environment of a process that has the plugin `toy` installed."""
    from tf_frame.testing.distributions import write_toy_distribution

    site = tmp_path_factory.mktemp("site")
    write_toy_distribution(site)
    return {**os.environ, "PYTHONPATH": str(site)}


@pytest.fixture
def cluster():
    """Starts one parameter server and two worker servers; yields the workers' targets."""
    import forked
    from tf_frame.testing.local_servers import local_servers

    with local_servers(num_ps=1, num_workers=2, popen=forked.Popen) as targets:
        yield targets
