"""`tf-frame plugins`, in this process."""

import json

import pytest

from tf_frame.cli import plugins
from tf_frame.errors import PluginError
from tf_frame.testing.distributions import write_distribution

TOY = "from tf_frame.testing.toy import ToyModel as Net\n"


@pytest.mark.parametrize("package", ["cli-first", "CLI_First"])
def test_a_clashing_name_is_shown_with_its_package(install, capsys, package):
    install("cli-first", "clash")
    install("cli-second", "clash")
    assert plugins.main(["show", f"{package}:clash"]) == 0
    assert "cli-first 1.0" in capsys.readouterr().out
    with pytest.raises(PluginError, match="use cli-first:clash"):
        plugins.main(["show", "clash"])


def test_a_hook_is_shown_with_its_options(site, capsys):
    target = "tf_frame.hooks.by_name.plugins:Heartbeat"
    write_distribution(site, "cli-hook", {"tf_frame.hooks: cli_heart": target})
    assert plugins.main(["show", "cli_heart", "--all"]) == 0
    output = capsys.readouterr().out
    assert f"tf_frame.hooks: {target}" in output
    assert "Writes state, step, time, process and host to MODEL_DIR/heartbeat.json." in output
    assert "--hook.cli_heart.every_secs" in output
    assert "seconds between heartbeats" in output


DECLARED = """
from tf_frame import Input, Model
class Net(Model):
    api_version = 1
    feature_names = ("cli_photo",)
    def build(self, features, labels, mode): ...
class Photos(Input):
    feature_names = ("cli_photo",)
    def __init__(self, **_): raise OSError("no data")
    def dataset(self, mode, context): ...
"""


def test_a_model_is_shown_with_homepage_contract_and_inputs(install, site, capsys):
    install("cli-page", "paged", DECLARED)
    write_distribution(site, "cli-photos", {"tf_frame.inputs: photos": "cli_page:Photos"})
    with open(site / "cli_page-1.0.dist-info" / "METADATA", "a") as file:
        file.write("Project-URL: Bugs, https://bugs\nProject-URL: Homepage, https://page\n")
    assert plugins.main(["show", "paged", "--all"]) == 0
    rows = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert ["homepage", "https://page"] in rows
    assert ["contract", "version 1"] in rows
    assert ["works", "with   photos"] in rows
    assert plugins.main(["show", "photos"]) == 0
    assert "  works with  paged\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["usable", "cli-why:usable"])
def test_why_says_that_a_plugin_can_be_used(install, capsys, name):
    install("cli-why", "usable")
    assert plugins.main(["why", name]) == 0
    assert capsys.readouterr().out == "the model 'usable' of cli-why 1.0 can be used\n"


def test_why_tells_cause_versions_failure_and_remedy(install, capsys):
    install("cli-fails", "fails", "import cli_absent", requires=["cli-absent>=2"])
    assert plugins.main(["why", "fails"]) == 2
    output = capsys.readouterr().out
    assert "ModuleNotFoundError: No module named 'cli_absent' (cli_fails.py, line 1)" in output
    assert "cli-fails 1.0, tf-frame 0." in output
    assert "it needs cli-absent>=2, which is not installed" in output
    assert "remedy       pip install cli-absent, which cli-fails requires" in output


def test_why_names_both_packages_of_a_conflict(install, capsys):
    install("cli-left", "both")
    install("cli-right", "both")
    assert plugins.main(["why", "both"]) == 2
    output = capsys.readouterr().out
    assert "'both' is also taken by cli_right:Net of cli-right 1.0" in output
    assert "'both' is also taken by cli_left:Net of cli-left 1.0" in output
    assert plugins.main(["why", "cli-right:both"]) == 0


def test_list_loads_on_demand_and_keeps_output_of_plugins_out_of_the_json(install, capsys):
    install("cli-loud", "loud", f"print('hello from a plugin')\n{TOY}")
    install("cli-bad", "bad", "raise ValueError('cause: one\\ncause: two')")
    install("cli-old", "old", "raise SystemExit('imported')", requires=["tf-frame<0.0.1"])
    assert plugins.main(["list", "--check", "--json"]) == 2
    captured = capsys.readouterr()
    problems = {row["name"]: row["problem"] for row in json.loads(captured.out)}
    assert problems["loud"] == "" and "hello from a plugin" in captured.err
    assert problems["bad"] == "ValueError: cause: one cause: two (cli_bad.py, line 1)"
    # Without --check only the metadata is read.
    assert plugins.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (number,) = [number for number, line in enumerate(lines) if " old " in line]
    assert lines[number].endswith("incompatible")
    assert "incompatible: it needs tf-frame<0.0.1, this is tf-frame" in lines[number + 1]


def test_the_weights_of_a_package_share_a_row_unless_they_have_a_problem(site, capsys):
    entries = {f"tf_frame.weights: cli_w{number}": "cli_weights:Net" for number in range(5)}
    write_distribution(site, "cli-weights", entries)
    (site / "cli_weights.py").write_text(TOY)
    write_distribution(site, "cli-lost", {"tf_frame.weights: cli_lost": "cli_absent:Net"})
    assert plugins.main(["list"]) == 0
    output = capsys.readouterr().out
    (row,) = [line.split() for line in output.splitlines() if "cli-weights" in line]
    assert row == ["5", "names", "cli-weights", "1.0", "ok"] and "cli_w0" not in output
    assert "    see tf-frame weights list\n" in output
    (row,) = [line.split() for line in output.splitlines() if " cli_lost " in line]
    assert row[-1] == "broken"


def test_strict_and_disabled_plugins_in_the_list(install, monkeypatch, capsys):
    install("cli-older", "older", requires=["tf-frame<0.0.1"])
    monkeypatch.setenv("TF_FRAME_STRICT_PLUGINS", "1")
    assert plugins.main(["list"]) == 2
    monkeypatch.setenv("TF_FRAME_DISABLE_PLUGINS", "cli-older,cli-olderr")
    capsys.readouterr()
    assert plugins.main(["list"]) == 0
    captured = capsys.readouterr()
    assert "disabled: TF_FRAME_DISABLE_PLUGINS disables cli-older" in captured.out
    assert "note: TF_FRAME_DISABLE_PLUGINS names cli-olderr, which is no" in captured.err


def test_show_begins_with_everyday_options_and_says_how_to_see_the_rest(capsys):
    assert plugins.main(["show", "deeplab"]) == 0
    few = capsys.readouterr().out
    assert "begin by    tf-frame run --plugin deeplab\n" in few and "entry point" not in few
    assert "Everyday options, of 39:\n  --model.backbone TEXT\n" in few
    assert few.endswith("\ntf-frame plugins show deeplab --all shows the rest.\n")
    assert plugins.main(["show", "deeplab", "--all"]) == 0
    everything = capsys.readouterr().out
    assert (few.count("  --"), everything.count("  --")) == (8, 39)
    assert "entry point  tf_frame.models: tf_frame_deeplab.model:DeepLab\n" in everything
    assert "Labels: " in everything and "shows the rest" not in everything


def test_show_has_the_options_and_not_the_errors_of_a_plugin(capsys):
    assert plugins.main(["show", "sgd"]) == 0
    output = capsys.readouterr().out
    assert "It takes no options." in output and "Options:" not in output
    assert plugins.main(["show", "momentum"]) == plugins.main(["show", "adam"]) == 0
    output = capsys.readouterr().out
    assert "--[no]optimizer.use_nesterov" in output and "Raises" not in output


def test_a_name_that_no_plugin_has_is_answered_with_near_ones(install, capsys):
    install("cli-near", "near_name")
    for name in ("near_nam", "cli-near:near_nam"):
        with pytest.raises(PluginError) as error:
            plugins.main(["show", name])
        start = f"no plugin is called {name!r}; did you mean 'near_name'? tf-frame plugins list"
        assert str(error.value).startswith(start)
    for name, answer in (
        ("near_nam", "no installed package has a plugin 'near_nam'; did you mean 'near_name'?"),
        ("cli-near", "cli-near is a package, not a plugin; it has: model near_name"),
    ):
        assert plugins.main(["why", name]) == 2
        assert answer in capsys.readouterr().out
