import os
import subprocess
import sys

import pytest

from tf_frame.plugin import find
from tf_frame.plugin.find import (
    BROKEN,
    CONFLICT,
    DISABLED,
    INCOMPATIBLE,
    OK,
    PluginInfo,
    find_plugins,
)
from tf_frame.plugin.kinds import INPUT, KINDS, MODEL, OPTIMIZER
from tf_frame.plugin.packages import packages
from tf_frame.testing.distributions import write_distribution


def found_in(*distributions):
    return [info for info in find_plugins() if info.distribution in distributions]


def test_a_plugin_is_found_with_its_package(site, install):
    install("fake-a", "neta", version="2.5")
    expected = PluginInfo(MODEL, "neta", "fake_a:Net", "fake-a", "2.5", OK, "")
    assert found_in("fake-a") == [expected]
    assert expected.where == "entry point tf_frame.models: neta = fake_a:Net of fake-a 2.5"


def test_each_kind_is_found_in_its_group(site):
    groups = {f"{kind.group}: thing": "m:C" for kind in KINDS}
    write_distribution(site, "fake-all", {**groups, "console_scripts: thing": "m:main"})
    assert [info.kind for info in found_in("fake-all")] == list(KINDS)


def test_a_single_kind_is_found_without_the_others(site, monkeypatch):
    write_distribution(site, "fake-b", {"tf_frame.models: z": "m:Z", "tf_frame.inputs: a": "m:A"})
    write_distribution(site, "fake-c", {"tf_frame.models: y": "m:Y"})
    listed = [info for info in find_plugins() if info.kind == INPUT]
    find._LISTED.clear()
    assert find_plugins(kind=INPUT) == listed == find_plugins(kind=INPUT)
    assert {info.distribution for info in listed} >= {"fake-b"}
    assert [info.name for info in found_in("fake-c")] == ["y"]
    # Strict plugins are checked all, whatever is asked for.
    monkeypatch.setenv("TF_FRAME_STRICT_PLUGINS", "1")
    assert MODEL in {info.kind for info in find_plugins(kind=INPUT)}


def test_plugins_are_sorted_by_kind_and_name(site):
    write_distribution(site, "fake-b", {"tf_frame.models: z": "m:Z", "tf_frame.inputs: a": "m:A"})
    write_distribution(site, "fake-c", {"tf_frame.models: y": "m:Y"})
    names = [(info.kind.word, info.name) for info in found_in("fake-b", "fake-c")]
    assert names == [("model", "y"), ("model", "z"), ("input", "a")]


def test_a_new_package_and_a_changed_entry_point_are_seen_at_once(site, install):
    assert not found_in("fake-a")
    install("fake-a", "before")
    assert [info.name for info in found_in("fake-a")] == ["before"]
    text = "[tf_frame.models]\nafter = fake_a:Net\n"
    (site / "fake_a-1.0.dist-info" / "entry_points.txt").write_text(text)
    assert [info.name for info in found_in("fake-a")] == ["after"]


def test_metadata_is_read_again_only_where_a_package_has_changed(site, install, monkeypatch):
    reads = []
    monkeypatch.setattr(find, "packages", lambda: reads.append(1) or packages())
    install("fake-a", "neta")
    assert find_plugins() == find_plugins() and len(reads) == 1
    install("fake-b", "netb")
    assert found_in("fake-b") and found_in("fake-a") and len(reads) == 2
    monkeypatch.setenv("TF_FRAME_DISABLE_PLUGINS", "netb")
    assert [info.state for info in found_in("fake-b")] == [DISABLED] and len(reads) == 3


@pytest.mark.parametrize("spelling", ["fake-twice", "Fake_Twice", "Fake.Twice"])
def test_the_same_package_twice_on_the_path_counts_once(
    site, install, tmp_path, monkeypatch, spelling
):
    install("fake-twice", "twice", version="1.0")
    nearer = tmp_path / "nearer"
    write_distribution(nearer, spelling, {"tf_frame.models: twice": "fake_twice:C"}, version="2.0")
    monkeypatch.syspath_prepend(str(nearer))
    (info,) = found_in("fake-twice", spelling)
    assert (info.version, info.state) == ("2.0", OK)


def test_packages_with_one_name_are_in_conflict_and_name_each_other(site, install):
    install("fake-z", "same", version="3.0")
    install("fake-m", "other")
    install("fake-a", "same")
    infos = found_in("fake-a", "fake-m", "fake-z")
    first, between, last = sorted(infos, key=lambda info: info.distribution)
    assert (first.state, between.state, last.state) == (CONFLICT, OK, CONFLICT)
    assert first.problem.endswith("'same' is also taken by fake_z:Net of fake-z 3.0")
    assert last.problem.endswith("'same' is also taken by fake_a:Net of fake-a 1.0")
    install("fake-b", "same")
    problem = found_in("fake-b")[0].problem
    assert "fake-a 1.0" in problem and "fake-z 3.0" in problem and "fake-b" not in problem


def test_a_name_of_tf_frame_itself_is_in_conflict_only_for_the_other_package(site):
    write_distribution(site, "fake-a", {f"{OPTIMIZER.group}: adam": "fake_a:Adam"})
    foreign, included = [info for info in find_plugins() if info.name == "adam"]
    assert (included.distribution, included.state, included.problem) == ("tf-frame", OK, "")
    problem = foreign.problem
    assert foreign.state == CONFLICT
    assert problem.startswith("the optimizer name 'adam' is also taken by tf_frame.optimizers")
    assert problem.endswith(", which keeps it; name this one fake-a:adam")


def test_the_same_name_in_two_kinds_is_no_conflict(site, install):
    install("fake-a", "same")
    write_distribution(site, "fake-b", {f"{INPUT.group}: same": "fake_a:C"})
    assert [info.state for info in found_in("fake-a", "fake-b")] == [OK, OK]


def test_an_incompatible_package_stays_incompatible_in_a_conflict(site, install):
    install("fake-a", "same")
    install("fake-b", "same", requires=["tf-frame>=9"])
    assert [info.state for info in found_in("fake-a", "fake-b")] == [CONFLICT, INCOMPATIBLE]


@pytest.mark.parametrize("line", [b"no equals sign", b"\xff\xfe = m:C"])
def test_unreadable_entry_points_hide_no_other_package(site, install, capsys, line):
    install("fake-good", "good")
    write_distribution(site, "fake-bad", {"tf_frame.models: bad": "m:C"})
    path = site / "fake_bad-1.0.dist-info" / "entry_points.txt"
    path.write_bytes(b"[tf_frame.models]\n" + line + b"\n")
    assert [info.name for info in found_in("fake-good", "fake-bad")] == ["good"]
    assert "skipping fake-bad: its entry_points.txt cannot be read" in capsys.readouterr().err


def test_finding_imports_neither_plugins_nor_tensorflow(site, install):
    install("fake-loud", "loud", "raise SystemExit('imported')")
    code = (
        "import sys; from tf_frame.plugin.find import find_plugins\n"
        "print([f.name for f in find_plugins() if f.distribution == 'fake-loud'])\n"
        "print([m for m in ('fake_loud', 'tensorflow', 'numpy') if m in sys.modules])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    output = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert output.splitlines() == ["['loud']", "[]"]


@pytest.mark.parametrize(
    ("change", "state", "problem"),
    [
        (
            {"requires": ["numpy", "tf-frame>=9"]},
            INCOMPATIBLE,
            "it needs tf-frame>=9, this is tf-frame 0.",
        ),
        ({"target": "fake_a"}, BROKEN, "its entry point is 'fake_a'; expected module:Class"),
        ({"target": "fake_a.part:Net"}, BROKEN, "there is no module 'fake_a.part'"),
        ({"target": "fake_gone:Net"}, BROKEN, "there is no module 'fake_gone'"),
        ({"requires": ["fake-gone>=2"]}, BROKEN, "it needs fake-gone>=2, which is not installed"),
        (
            {"requires": ["pytest<1"]},
            BROKEN,
            f"it needs pytest<1, installed is pytest {pytest.__version__}",
        ),
    ],
)
def test_metadata_tells_what_is_broken(site, install, change, state, problem):
    install("fake-a", "neta", "raise SystemExit('imported')", **change)
    (info,) = found_in("fake-a")
    assert info.state == state
    assert info.problem.startswith(problem)


def test_a_package_without_metadata_is_reported(site, install, capsys):
    install("fake-a", "neta")
    folder = site / "fake_a-1.0.dist-info"
    (folder / "METADATA").unlink()
    assert not found_in("fake-a")
    assert f"{folder}: its METADATA is missing or has no name" in capsys.readouterr().err


def test_a_requirement_that_cannot_be_read_is_for_the_authors(site, install):
    install("fake-a", "neta", requires=["tf-frame>>9"])
    (info,) = found_in("fake-a")
    assert info.state == INCOMPATIBLE
    assert "\n" not in info.problem
    assert info.remedy == "tell the authors of fake-a, or uninstall it"


def test_the_remnant_of_a_stopped_pip_is_not_found(site, install):
    install("fake-a", "neta")
    (site / "fake_a-1.0.dist-info").rename(site / "~ake_a-1.0.dist-info")
    assert not found_in("fake-a")


def test_a_package_from_before_wheels_is_found_with_its_requirements(site, install):
    (site / "fake_a.py").touch()
    folder = site / "fake_a.egg-info"
    folder.mkdir()
    (folder / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: fake-a\nVersion: 3\n")
    (folder / "requires.txt").write_text("tf-frame>=9\n")
    (folder / "entry_points.txt").write_text("[tf_frame.models]\nneta = fake_a:Net\n")
    (info,) = found_in("fake-a")
    assert (info.version, info.state) == ("3", INCOMPATIBLE)


def test_a_long_description_is_no_metadata(site, install):
    install("fake-a", "neta")
    with open(site / "fake_a-1.0.dist-info" / "METADATA", "a") as file:
        file.write("\nVersion: 7\nRequires-Dist: tf-frame>=9\n")
    (info,) = found_in("fake-a")
    assert (info.version, info.state) == ("1.0", OK)


def test_a_group_with_a_typing_error_is_told_and_one_of_a_later_version_left_alone(site, install):
    install("fake-a", "neta")
    text = "[tf_frame.model]\nneta = fake_a:Net\n[tf_frame.evaluators]\nnetb = fake_a:Net\n"
    (site / "fake_a-1.0.dist-info" / "entry_points.txt").write_text(text)
    (info,) = found_in("fake-a")
    assert (info.name, info.state) == ("neta", INCOMPATIBLE)
    assert info.problem == "its entry-point group is tf_frame.model; expected tf_frame.models"
