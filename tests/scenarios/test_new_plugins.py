"""Plugins of every kind as `tf-frame plugins new` writes them: installed, linted, tested, run."""

import importlib.util
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from plugin_environment import PluginEnvironment, style_problems
from tf_frame.cli.main import main
from tf_frame.scaffold.contents import CONTENTS

pytestmark = pytest.mark.process


@pytest.fixture
def folders(tmp_path):
    """A new plugin of each kind, by kind."""
    names = {kind: f"new-{kind.replace('_', '-')}" for kind in CONTENTS}
    for kind, name in names.items():
        assert main(["plugins", "new", name, "--kind", kind, "--directory", str(tmp_path)]) == 0
    return {kind: tmp_path / name for kind, name in names.items()}


@pytest.mark.slow
def test_the_tests_of_a_new_model_pass(folders, tmp_path):
    model = {"model": folders["model"]}
    environment = installed(model, tmp_path)
    succeeded(run_tests(environment, model, tmp_path))


# One test, because its parts share the environment and its forked processes; in two threads,
# because the tests and the runs do not need each other.
@pytest.mark.slow
def test_new_plugins_of_every_kind_work_as_they_are(folders, tmp_path):
    environment = installed(folders, tmp_path)

    def runs_and_checks():
        parts = "--input new_input --transform new_gradient_transform --hook new_hook:20"
        run(environment, tmp_path, "parts", f"--plugin new_model {parts}")
        parts = "--transform new_bundle:0.1 --hook new_bundle:20"
        run(environment, tmp_path, "bundle", f"--plugin new_bundle {parts}")
        succeeded(environment.run("tf-frame", "plugins", "check", "new_hook", cwd=tmp_path))
        table = succeeded(environment.run("tf-frame", "new_command", ".", cwd=tmp_path))
        assert {line.split()[1] for line in table.splitlines()} == {"parts", "bundle"}

    with ThreadPoolExecutor() as pool:
        future = pool.submit(runs_and_checks)
        succeeded(run_tests(environment, folders, tmp_path))
        future.result()


def succeeded(process):
    assert process.returncode == 0, process.stdout[-6000:] + process.stderr[-3000:]
    return process.stdout


def installed(folders, folder):
    """An environment with the plugins, as wheels."""
    environment = PluginEnvironment(folder / "environment")
    paths = map(str, folders.values())
    succeeded(environment.run("pip", "install", "-q", "--no-deps", *paths, cwd=folder))
    return environment


def run_tests(environment, folders, cwd):
    """Runs the tests of several distributions in one process."""
    options = ["-q", "--import-mode=importlib", "-p", "no:cacheprovider", "--rootdir", str(cwd)]
    tests = (str(folder / "tests") for folder in folders.values())
    return environment.run("pytest", *options, *tests, cwd=cwd)


def run(environment, folder, name, words):
    options = ["--max_steps", "60", "--model_dir", name]
    succeeded(environment.run("tf-frame", "run", *words.split(), *options, cwd=folder))
    result = json.loads((folder / name / "result.json").read_text())
    assert result["global_step"] == 60
    assert result["metrics"]["accuracy"] > 0.2  # 0.1 by chance.
    rows = (folder / name / "weight_norm.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["20", "40", "60"]


@pytest.mark.slow
def test_plugins_check_checks_every_plugin_of_a_name(folders, tmp_path):
    environment = installed(folders, tmp_path)
    for kind, parts in CONTENTS.items():
        words = "tf-frame", "plugins", "check", f"new_{kind}"
        output = succeeded(environment.run(*words, cwd=tmp_path))
        for part in parts:
            assert f"the {part.kind.word} 'new_{kind}'" in output


@pytest.mark.slow
def test_new_plugins_pass_lint(folders, tmp_path):
    if not importlib.util.find_spec("ruff"):
        pytest.skip("ruff is not installed")
    for kind, name in (("bundle", "a" * 30), ("input", "b" * 30)):
        main(["plugins", "new", name, "--kind", kind, "--directory", str(tmp_path)])
        folders[name] = tmp_path / name
    for folder in folders.values():
        assert not style_problems(folder)
