"""Runs whose plugin is another one later: the warning, and the refusal of `--locked`."""

import importlib
import shutil
import sys

import pytest
import yaml

from tf_frame.cli import evaluate, export, predict
from tf_frame.cli.main import main
from tf_frame.cli.run import main as run
from tf_frame.command_line.folder_setup import setup_from_folder
from tf_frame.command_line.lock import change_warnings, refuse_changed
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.config.yaml_file import Settings, read_settings
from tf_frame.errors import ConfigError
from tf_frame.testing.distributions import write_distribution

SOURCE = "from tf_frame.testing.toy import ToyModel as Net, ToyInput as Source\n"
OTHER_VERSION = "warning: {}/config.yaml was written with lock-toy 1.0, this is 1.5"
OTHER_CONTENT = "warning: {}/config.yaml was written with lock-toy 1.0 of other content (sha256 "
COMMANDS = {"evaluate": evaluate.OPTIONS, "predict": predict.OPTIONS, "export": export.OPTIONS}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    entry_points = {
        "tf_frame.models: locked": "lock_toy:Net",
        "tf_frame.inputs: toy": "lock_toy:Source",
    }
    write_distribution(folder, "lock-toy", entry_points)
    (folder / "lock_toy.py").write_text(SOURCE)
    (folder / "lock_toy-1.0.dist-info" / "RECORD").write_text("lock_toy.py,,\n")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def trained(site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "run"
    words = ["--plugin", "locked", "--max_steps", "2", "--noevaluate"]
    assert run([*words, "--model_dir", str(folder)]) == 0
    return folder


@pytest.fixture
def folder(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "run")


@pytest.fixture
def change(site):
    """Changes the version or the content of the package for the length of a test."""
    metadata = site / "lock_toy-1.0.dist-info" / "METADATA"
    before = metadata.read_text()

    def change(what):
        if what == "version":
            metadata.write_text(before.replace("Version: 1.0", "Version: 1.5"))
        else:
            (site / "lock_toy.py").write_text(f"{SOURCE}# edited\n")

    yield change
    metadata.write_text(before)
    (site / "lock_toy.py").write_text(SOURCE)


def edit(folder, **sections):
    """Changes sections of a run's `config.yaml`."""
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), **sections}))


def test_a_run_records_its_plugins(trained):
    written = yaml.safe_load((trained / "config.yaml").read_text())
    assert written["versions"]["lock-toy"] == "1.0"
    assert written["lock"]["lock-toy"]["plugins"] == ["model locked", "input toy"]
    assert len(written["lock"]["lock-toy"]["sha256"]) == 64
    assert written["lock"]["tf-frame"] == {"plugins": ["optimizer momentum", "learning rate fixed"]}


@pytest.mark.parametrize(
    ("what", "warning"), [("version", OTHER_VERSION), ("content", OTHER_CONTENT)]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_only_a_change_is_warned_of_once_and_refused_if_locked(
    folder, capsys, change, command, what, warning
):
    setup_from_folder(command, [str(folder), "--locked"], COMMANDS[command])
    assert capsys.readouterr() == ("", "")
    change(what)
    setup_from_folder(command, [str(folder)], COMMANDS[command])
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(warning.format(folder))
    with pytest.raises(ConfigError) as error:
        setup_from_folder(command, [str(folder), "--locked"], COMMANDS[command])
    expected = warning.format(folder).replace("warning:", "--locked:")
    assert str(error.value).startswith(expected)
    assert str(error.value).endswith("or leave --locked out")


def make_words(command, folder):
    return ["run", "--model_dir", str(folder)] if command == "run" else [command, str(folder)]


@pytest.mark.parametrize("command", ["run", *COMMANDS])
def test_an_option_that_another_version_renamed_is_told_with_the_versions(
    folder, capsys, change, command
):
    edit(folder, model={"decays": 0.1})
    assert main(make_words(command, folder)) == 2
    (unknown,) = capsys.readouterr().err.splitlines()
    assert f"{folder}/config.yaml: unknown option model.decays" in unknown
    change("version")
    assert main(make_words(command, folder)) == 2
    expected = [unknown, OTHER_VERSION.format(folder)]
    assert capsys.readouterr().err.splitlines() == expected


def test_a_wrong_option_of_the_command_line_is_told_with_the_versions(folder, capsys, change):
    change("version")
    words = ["--plugin", "locked", "--model_dir", str(folder), "--model.decays", "3"]
    assert main(["run", *words]) == 2
    unknown, warning = capsys.readouterr().err.splitlines()
    assert "--model.decays" in unknown
    assert warning == OTHER_VERSION.format(folder)


@pytest.mark.parametrize("command", ["run", "evaluate"])
def test_a_plugin_that_cannot_be_used_is_told_with_its_change(
    site, folder, capsys, change, command, monkeypatch
):
    change("content")
    (site / "lock_toy.py").write_text("import no_such_module")
    monkeypatch.delitem(sys.modules, "lock_toy")
    assert main(make_words(command, folder)) == 2
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first.startswith("tf-frame: the model 'locked' of lock-toy 1.0 cannot be used")
    assert last.startswith(OTHER_CONTENT.format(folder))


def test_an_error_is_told_with_the_package_that_has_the_plugin_now(
    site, folder, tmp_path, capsys, monkeypatch
):
    edit(folder, model={"decays": 0.1})
    points = site / "lock_toy-1.0.dist-info" / "entry_points.txt"
    text = points.read_text()
    monkeypatch.syspath_prepend(str(tmp_path))
    write_distribution(tmp_path, "lock-other", {"tf_frame.models: locked": "lock_toy:Net"})
    points.write_text(text.replace("locked", "renamed"))
    code = main(["evaluate", str(folder)])
    points.write_text(text)
    assert code == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"warning: {folder}/config.yaml was written with the model locked of lock-toy, this is "
        "the model locked of lock-other"
    )


@pytest.mark.slow
def test_a_resumed_run_warns_once_and_records_what_it_used(folder, capsys, change):
    change("content")
    words = ["--plugin", "locked", "--model_dir", str(folder), "--noevaluate", "--max_steps"]
    assert run([*words, "3"]) == 0
    assert capsys.readouterr().out.count(OTHER_CONTENT.format(folder)) == 1
    assert run([*words, "4", "--locked"]) == 0
    assert "warning" not in capsys.readouterr().out


def test_a_locked_run_is_refused_before_code_of_the_plugin_runs(folder, change):
    change("content")
    for words in (["--model_dir"], ["--plugin", "locked", "--model_dir"], ["--config"]):
        path = folder / "config.yaml" if words == ["--config"] else folder
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "lock_toy", None)  # An import of it fails.
            with pytest.raises(ConfigError, match="--locked: .* of other content"):
                parse_command_line([*words, str(path), "--locked"])


@pytest.fixture(
    params=["site/lock_toy/__init__.py", "earlier/lock_toy.py", "earlier/lock_toy/__init__.py"]
)
def hiding(request, site, tmp_path, monkeypatch):
    """Code that an import would take in place of what is installed."""
    where, _, name = request.param.partition("/")
    path = {"site": site, "earlier": tmp_path / "earlier"}[where] / name
    path.parent.mkdir(parents=True)
    path.write_text("raise SystemExit('ran')")
    if where == "earlier":
        monkeypatch.syspath_prepend(str(tmp_path / "earlier"))
    importlib.invalidate_caches()
    monkeypatch.delitem(sys.modules, "lock_toy", raising=False)
    yield
    shutil.rmtree(site / "lock_toy", ignore_errors=True)


def test_code_that_hides_what_is_installed_never_runs_if_locked(folder, hiding):
    with pytest.raises(ConfigError, match="--locked: .* of other content"):
        setup_from_folder("evaluate", [str(folder), "--locked"], evaluate.OPTIONS)


def test_a_plugin_that_is_not_recorded_is_refused_if_locked(folder):
    words = ["--model_dir", str(folder), "--optimizer", "adam"]
    assert parse_command_line(words).setup()
    with pytest.raises(ConfigError, match="the optimizer 'adam' of tf-frame .* is not among"):
        parse_command_line([*words, "--locked"]).setup()


def test_the_configuration_is_input_of_a_new_run(folder, tmp_path, capsys):
    words = ["--config", str(folder / "config.yaml"), "--model_dir", str(tmp_path / "new")]
    setup = parse_command_line([*words, "--locked"]).setup()
    assert setup.model.name == "locked"
    assert read_settings(str(folder / "config.yaml")).lock.keys() == {"lock-toy", "tf-frame"}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (3, "'lock' of lock-toy takes sha256 and plugins, found 3"),
        ({"sha256": 12}, "'sha256' of lock-toy takes text, found 12"),
        ({"plugins": 7}, "'plugins' of lock-toy takes a list, found 7"),
    ],
)
def test_a_damaged_record_is_one_clear_error(folder, entry, message):
    edit(folder, lock={"lock-toy": entry})
    for words in ([], ["--locked"]):
        with pytest.raises(ConfigError, match=f"config.yaml: {message}"):
            setup_from_folder("evaluate", [str(folder), *words], evaluate.OPTIONS)


def test_versions_alone_are_compared():
    (line,) = change_warnings(
        [Settings(versions={"tf-frame": "0.0.1", "gone": "1"}, path="x.yaml")]
    )
    assert line.startswith("warning: x.yaml was written with tf-frame 0.0.1, this is ")


@pytest.mark.parametrize("words", [["--model_dir"], ["--plugin", "locked", "--model_dir"]])
def test_an_empty_configuration_records_no_plugins(folder, words):
    file = folder / "config.yaml"
    file.write_text("")
    with pytest.raises(ConfigError, match=f"^--locked: {file} records no plugins; leave"):
        parse_command_line([*words, str(folder), "--locked"])
    with pytest.raises(ConfigError, match=f"^--locked: {file} records no plugins; leave"):
        setup_from_folder("evaluate", [str(folder), "--locked"], evaluate.OPTIONS)


TOY = {"plugins": ["model locked", "input toy"]}
OWN = {"plugins": ["optimizer momentum", "learning rate fixed"]}


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"lock": None}, "does not record the content of its plugins"),  # Before there were locks.
        ({"lock": {"lock-toy": TOY, "tf-frame": OWN}}, "the content of lock-toy"),
        ({"lock": {"lock-toy": {**TOY, "sha256": None}, "tf-frame": OWN}}, "content of lock-toy"),
        ({"lock": {"lock-toy": {**TOY, "sha256": ""}, "tf-frame": OWN}}, "the content of lock-toy"),
        ({"versions": {"lock-toy": "1.0"}}, "does not record the version of tf-frame"),
    ],
)
def test_an_incomplete_record_cannot_be_locked_and_warns_of_nothing(
    folder, capsys, change, sections, message
):
    edit(folder, **sections)
    if "versions" not in sections:
        change("content")
    with pytest.raises(ConfigError, match=message):
        setup_from_folder("evaluate", [str(folder), "--locked"], evaluate.OPTIONS)
    setup_from_folder("evaluate", [str(folder)], evaluate.OPTIONS)
    assert capsys.readouterr().out == ""


def test_without_a_record_nothing_can_be_locked():
    with pytest.raises(ConfigError, match="--locked: no plugins are recorded"):
        refuse_changed([])
