"""`tf-frame plugins check`."""

import json

import pytest

from tf_frame.cli.plugin_check import main
from tf_frame.errors import ConfigError, PluginError
from tf_frame.testing.distributions import write_distribution


def test_a_table_with_every_check_and_their_number(capsys):
    assert main(["exponential", "--schedule.decay_steps", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "the learning rate 'exponential' of tf-frame 0.1.0"
    assert lines[-1] == "6 ok"
    assert any(line.split()[:2] == ["is_a_scalar", "ok"] for line in lines)


def test_json(capsys):
    assert main(["cosine", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[-1] == {
        "kind": "learning rate",
        "plugin": "cosine",
        "distribution": "tf-frame",
        "name": "test_is_finite_at_every_step",
        "description": "The rate is finite and not negative at the first steps, the last "
        "step, and after it.",
        "state": "ok",
        "problem": "",
    }


def test_a_fault_is_exit_code_2(site, capsys):
    entry_points = {"tf_frame.learning_rates: falls": "nonconforming.parts:FallsBelowZero"}
    write_distribution(site, "my-falls", entry_points)
    assert main(["falls"]) == 2
    out = capsys.readouterr().out
    assert "is_finite_at_every_step" in out and "failed  the learning rate is -0.1" in out
    assert out.endswith("5 ok, 1 failed\n")


def test_a_plugin_that_cannot_be_loaded_has_one_row_for_the_checks_that_need_it(site, capsys):
    write_distribution(
        site, "my-gone", {"tf_frame.learning_rates: gone": "nonconforming.parts:Gone"}
    )
    assert main(["gone"]) == 2
    _, heading, failed, more, total = capsys.readouterr().out.splitlines()
    assert heading.split() == ["CHECK", "STATE"]
    assert "loads_without_side_effects" in failed and "no attribute 'Gone'" in failed
    reason = "not checked, because loads_without_side_effects fails"
    assert " ".join(more.split()) == f"5 more skipped {reason}"
    assert total == "1 failed, 5 skipped"


def test_what_needs_an_option_is_skipped_and_counted(site, capsys):
    entry_points = {"tf_frame.learning_rates: steps": "nonconforming.parts:NeedsAnOption"}
    write_distribution(site, "my-steps", entry_points)
    assert main(["steps"]) == 0
    assert capsys.readouterr().out.endswith("3 ok, 3 skipped\n")
    assert main(["steps", "--schedule.every", "3"]) == 0
    assert capsys.readouterr().out.endswith("6 ok\n")


PRINTS = """
import os
from tf_frame import HookPlugin
class Prints(HookPlugin):
    def __call__(self, context):
        print("from Python")
        os.write(1, b"from C++\\n")
        return []
"""


@pytest.mark.slow
def test_what_a_plugin_prints_stays_out_of_the_json(site, capfd):
    (site / "my_prints.py").write_text(PRINTS)
    write_distribution(site, "my-prints", {"tf_frame.hooks: prints": "my_prints:Prints"})
    assert main(["prints", "--json"]) == 0
    captured = capfd.readouterr()
    assert {row["plugin"] for row in json.loads(captured.out)} == {"prints"}
    assert "from Python" in captured.err and "from C++" in captured.err


@pytest.mark.slow
def test_a_package_in_the_name_chooses_among_models_of_a_conflict(site, capsys):
    write_distribution(site, "my-a", {"tf_frame.models: same": "nonconforming.models:None"})
    toy = {"models: same": "toy:ToyModel", "inputs: toy": "toy:ToyInput"}
    entry_points = {f"tf_frame.{name}": f"tf_frame.testing.{cls}" for name, cls in toy.items()}
    write_distribution(site, "my-b", entry_points)
    assert main(["my-b:same", "--train_batch_size", "4"]) == 0
    assert capsys.readouterr().out.startswith("the model 'same' of my-b 1.0\n")


@pytest.mark.slow
def test_plugins_of_one_name_each_take_their_own_options(site, capsys):
    entry_points = {
        "tf_frame.models: toy": "tf_frame.testing.toy:ToyModel",
        "tf_frame.inputs: toy": "tf_frame.testing.toy:ToyInput",
        "tf_frame.learning_rates: toy": "nonconforming.parts:NeedsAnOption",
    }
    write_distribution(site, "my-toys", entry_points)
    words = ["--schedule.every", "3", "--model.l2", "0.1", "--input.num_examples", "8"]
    assert main(["toy", *words, "--train_batch_size", "4"]) == 0
    out = capsys.readouterr().out
    assert out.count("the model 'toy'") == out.count("the input 'toy'") == 1
    assert out.endswith("6 ok\n")  # Without its option the learning rate would be skipped.
    with pytest.raises(ConfigError, match=r"unknown option --model\.l3; did you mean --model\.l2"):
        main(["toy", "--model.l3", "1"])
    with pytest.raises(ConfigError, match=r"did you mean --schedule\.every"):
        main(["toy", "--kind", "learning_rate", "--schedule.evry", "1"])


def test_a_plugin_that_may_not_be_used_is_not_checked(site, monkeypatch):
    entry_points = {"tf_frame.learning_rates: off": "nonconforming.parts:Constant"}
    write_distribution(site, "my-off", entry_points)
    monkeypatch.setenv("TF_FRAME_DISABLE_PLUGINS", "off")
    with pytest.raises(PluginError, match="TF_FRAME_DISABLE_PLUGINS disables off"):
        main(["off"])


def test_wrong_words_are_refused():
    with pytest.raises(ConfigError, match=r"option --x; tf-frame plugins show cosine lists"):
        main(["cosine", "--x", "3"])
    with pytest.raises(ConfigError, match=r"--schedule\.hold_step.*hold_steps"):
        main(["cosine", "--schedule.hold_step", "3"])
    with pytest.raises(ConfigError, match="NAME of a plugin first"):
        main(["--json"])


def test_the_kind_chooses_among_plugins_of_one_name(capsys):
    assert main(["fixed", "--kind", "learning_rate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
    with pytest.raises(PluginError):
        main(["fixed", "--kind", "model"])
