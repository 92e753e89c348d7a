"""`tf-frame plugins`, in this process."""

import importlib
import json

import pytest

from tf_frame.cli import plugins
from tf_frame.errors import PluginError
from tf_frame.testing.distributions import write_distribution

TOY = "from tf_frame.testing.toy import ToyModel as Net\n"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Writes a package that brings one model."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(distribution, name, source=TOY):
        # Modules stay imported, so each test brings names of its own.
        module = distribution.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(source)
        write_distribution(tmp_path, distribution, {f"tf_frame.models: {name}": f"{module}:Net"})
        importlib.invalidate_caches()

    return install


def test_what_plugins_print_stays_out_of_the_json(install, capsys):
    install("cli-loud", "loud", f"print('hello from a plugin')\n{TOY}")
    plugins.main(["list", "--check", "--json"])
    captured = capsys.readouterr()
    assert "loud" in [row["name"] for row in json.loads(captured.out)]
    assert "hello from a plugin" in captured.err


def test_the_check_gives_the_whole_cause(install, capsys):
    install("cli-bad", "bad", "raise ValueError('cause: one\\ncause: two')")
    assert plugins.main(["list", "--check", "--json"]) == 2
    problems = {row["name"]: row["problem"] for row in json.loads(capsys.readouterr().out)}
    assert problems["bad"] == "ValueError: cause: one cause: two (cli_bad.py, line 1)"


@pytest.mark.parametrize("package", ["cli-first", "CLI_First"])
def test_a_clashing_name_is_shown_with_its_package(install, capsys, package):
    install("cli-first", "clash")
    install("cli-second", "clash")
    assert plugins.main(["show", f"{package}:clash"]) == 0
    assert "cli-first 1.0" in capsys.readouterr().out
    with pytest.raises(PluginError, match="use cli-first:clash"):
        plugins.main(["show", "clash"])


@pytest.mark.parametrize("name", ["near_nam", "cli-near:near_nam"])
def test_an_unknown_name_is_answered_with_near_ones(install, name):
    install("cli-near", "near_name")
    with pytest.raises(PluginError) as error:
        plugins.main(["show", name])
    start = f"no plugin is called {name!r}; did you mean 'near_name'? installed: "
    assert str(error.value).startswith(start)


def test_a_plugin_without_options_says_so(capsys):
    assert plugins.main(["show", "sgd"]) == 0
    shown = capsys.readouterr().out
    assert "It takes no options." in shown and "Options:" not in shown
    assert plugins.main(["show", "momentum"]) == 0
    assert "--[no]optimizer.use_nesterov" in capsys.readouterr().out


def test_what_a_plugin_raises_is_for_its_authors(capsys):
    assert plugins.main(["show", "adam"]) == 0
    assert "Raises" not in capsys.readouterr().out


def test_a_hook_is_shown_with_its_options(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(tmp_path))
    target = "tf_frame.hooks.named:Heartbeat"
    write_distribution(tmp_path, "cli-hook", {"tf_frame.hooks: cli_heart": target})
    assert plugins.main(["show", "cli_heart"]) == 0
    shown = capsys.readouterr().out
    assert f"tf_frame.hooks: {target}" in shown
    assert "Writes state, step, time, process and host to MODEL_DIR/heartbeat.json." in shown
    assert "--hook.cli_heart.every_secs" in shown
    assert "seconds between heartbeats" in shown
