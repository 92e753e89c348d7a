"""`--show_placement` and `--show_model`: a table instead of a run."""

import dataclasses

import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame.errors import ConfigError
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM
from tf_frame.runs.training.show import show_model, show_placement
from tf_frame.testing.toy import ToyInput, ToyModel, installed_plugin, make_setup


class Uneven(ToyModel):
    """The toy with one large variable among small ones."""

    def build(self, features, labels, mode):
        for index, size in enumerate([16, 1024, 16, 16]):
            tf.get_variable(f"v{index}", [size], trainable=False)
        return super().build(features, labels, mode)


def shown(tmp_path, **options):
    lines = []
    setup = make_setup(Uneven, ToyInput, str(tmp_path), optimizer="sgd", **options)
    show_placement(setup, setup.make_input(), report=lines.append)
    return "\n".join(lines)


def split_rows(text):
    """Device -> number of variables."""
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: int(row[1]) for row in rows if row and row[0].startswith("/")}


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("num_clones", [1, 2])
def test_each_task_has_a_row_and_the_imbalance_is_said(tmp_path, num_clones):
    text = shown(tmp_path, num_ps_tasks=2, num_clones=num_clones, show_placement=True)
    # The global step, four of the model, weights and biases.
    assert split_rows(text) == {f"/job:ps/task:{i}/device:CPU:0": 4 - i for i in range(2)}
    assert "largest task over mean of tasks: " in text


def test_the_strategy_of_the_options_is_shown(tmp_path):
    options = {"num_ps_tasks": 2, "show_placement": True}
    in_turn = split_rows(shown(tmp_path, placement="round_robin", **options))
    balanced = split_rows(shown(tmp_path, placement="balanced", **options))
    assert sorted(in_turn.values()) == [3, 4]
    # The large one is alone on its task.
    assert sorted(balanced.values()) == [1, 6]


def test_without_parameter_servers_everything_is_on_the_cpu_and_nothing_is_written(tmp_path):
    assert split_rows(shown(tmp_path, show_placement=True)) == {"/device:CPU:0": 7}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("strict", [False, True])
def test_a_pattern_without_a_match_is_said_here_too(tmp_path, strict):
    part = installed_plugin(GRADIENT_TRANSFORM, "freeze", {"t.patterns": "bogus/.*"}, "t")
    options = {"transforms": [part], "strict": strict, "show_placement": True}
    if strict:
        with pytest.raises(ConfigError, match="bogus"):
            shown(tmp_path, **options)
    else:
        assert "bogus" in shown(tmp_path, **options)


class Affine(ToyModel):
    """The toy as a model function of tf.estimator: with a train op of its own."""

    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        step = optimizer.minimize(output.loss, global_step=tf.train.get_global_step())
        return dataclasses.replace(output, train_op=step)


@pytest.mark.parametrize(
    ("model", "options"), [(ToyModel, {}), (ToyModel, {"num_clones": 2}), (Affine, {})]
)
def test_the_cost_of_the_layers_is_shown(tmp_path, model, options):
    lines = []
    setup = make_setup(model, ToyInput, str(tmp_path), optimizer="sgd", show_model=True, **options)
    show_model(setup, setup.make_input(), report=lines.append)
    table = {row[0]: row[1:] for line in lines[0].splitlines() if (row := line.split())}
    # Three weights and a bias; a product for each weight.
    assert table["linear"][:2] == ["4", "100.0"]
    assert table["total"][:4] == ["4", "100.0", "3", "100.0"]
    assert "a step of 8 examples" in lines[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.process
def test_the_command_shows_the_table_and_trains_nothing(toy_environment, tmp_path):
    argv = ["--plugin", "toy", "--model_dir", "new", "--num_ps_tasks", "2", "--show_placement"]
    done = forked.succeed([*forked.TF_FRAME, "run", *argv], env=toy_environment, cwd=tmp_path)
    assert sorted(split_rows(done.stdout)) == [f"/job:ps/task:{i}/device:CPU:0" for i in range(2)]
    assert not (tmp_path / "new").exists()
