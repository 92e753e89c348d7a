"""Versions and traps, with versions that are not installed here."""

import importlib.metadata

import pytest
from packaging.requirements import Requirement

from tf_frame.cli.doctor import packages
from tf_frame.cli.doctor.probe import Answer

REQUIRED = {
    name: Requirement(f"{name}{versions}")
    for name, versions in {"tensorflow": ">=2.20,<2.22", "absl-py": ">=2.1"}.items()
}
HEALTHY = {"tensorflow": "2.20.1", "absl-py": "2.3", "protobuf": "7.1.0"}
OLD = "VersionError: loading google/rpc/error_details.proto: gencode 6.33.5 runtime 6.31.1"
ROW = {"kind": "model", "name": "net", "distribution": "tf-frame-net", "version": "1.0"}


@pytest.fixture
def check_versions(monkeypatch):
    """Returns the checks by name for the given versions; None: not installed."""

    def version(name):
        if name not in installed:
            raise importlib.metadata.PackageNotFoundError(name)
        return installed[name]

    def check_versions(versions):
        installed.update(versions)
        return {check.name: check for check in packages.version_checks()}

    installed = dict(HEALTHY)
    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(packages, "requirements", lambda: REQUIRED)
    return check_versions


def states(checks):
    return {name: check.state for name, check in checks.items()}


def test_all_is_well(check_versions):
    checks = check_versions({})
    assert set(states(checks).values()) == {"OK"}
    assert set(checks) == {"python", "tensorflow", "protobuf", "requirements"}
    assert checks["requirements"].found == "absl-py 2.3"
    assert checks["tensorflow"].advice == ()


def test_a_requirement_that_is_not_met(check_versions):
    checks = check_versions({"tensorflow": "2.19.0", "absl-py": "2.0"})
    assert states(checks)["tensorflow"] == states(checks)["absl-py"] == "problem"
    assert checks["tensorflow"].found.startswith("2.19.0; tf-frame needs ")
    assert checks["absl-py"].advice == ("pip install 'absl-py>=2.1'",)


def test_a_package_that_brings_the_same_modules_will_do(check_versions, monkeypatch):
    monkeypatch.delitem(HEALTHY, "tensorflow")
    assert check_versions({"tensorflow-cpu": "2.20.0"})["tensorflow"].state == "OK"


@pytest.mark.parametrize(
    ("versions", "name", "state", "advice"),
    [
        ({"tensorflow": "2.21.0"}, "tensorflow", "OK", "ProfilerOptions has no effect"),
        ({"protobuf": "6.33.0", "xprof": "2.24.2"}, "protobuf", "problem", "no Profile tab"),
        ({"protobuf": "6.33.5", "xprof": "2.24.2"}, "protobuf", "OK", None),
        ({"protobuf": "6.33.0"}, "protobuf", "OK", None),
        ({"tf-keras": "2.21.0", "tf-slim": "1.1.0"}, "tf-keras", "warning", "legacy.slim"),
        ({"tf-keras": "2.21.0"}, "tf-keras", "OK", None),
        (
            {"tensorboard": "2.20.0", "setuptools": "82.0"},
            "tensorboard",
            "problem",
            "pkg_resources",
        ),
        ({"tensorboard": "2.20.0", "setuptools": "81.0"}, "tensorboard", "OK", None),
    ],
)
def test_traps(check_versions, versions, name, state, advice):
    check = check_versions(versions)[name]
    assert check.state == state
    assert (advice in check.advice[0]) if advice else check.advice == ()


def test_the_profile_extra_is_in_the_metadata():
    """`doctor` says `pip install tf-frame[profile]`, and compares versions with its bounds."""
    needed = packages.requirements(packages.PROFILE_EXTRA)["protobuf"]
    assert not needed.specifier.contains("6.33.4")
    assert needed.specifier.contains("6.33.5")


@pytest.fixture
def installed(monkeypatch):
    versions = {"xprof": "2.24.2", "protobuf": "7.0"}
    monkeypatch.setattr(packages, "installed_version", lambda name: versions.get(name, ""))
    needed = {"protobuf": Requirement("protobuf>=6.33.5,<8")}
    monkeypatch.setattr(packages, "requirements", lambda extra: needed)
    return versions


@pytest.mark.parametrize(
    ("protobuf", "answer", "state", "text", "advice"),
    [
        ("7.0", Answer(), "OK", "TensorBoard has it", None),
        ("6.31.1", Answer(error=OLD), "problem", f"missing in TensorBoard: {OLD}", "'protobuf<8,"),
        ("7.0", Answer(error="ImportError: x"), "problem", "ImportError: x", "--force-reinstall"),
        ("7.0", Answer(error="ended", tried=False), "warning", "not looked at", None),
    ],
)
def test_the_profile_tab(installed, protobuf, answer, state, text, advice):
    installed["protobuf"] = protobuf
    check = packages.profile_tab(answer)
    assert check.state == state
    assert text in check.found
    assert (advice in check.advice[0]) if advice else not check.advice


def test_the_profile_tab_without_xprof(installed):
    del installed["xprof"]
    check = packages.profile_tab(Answer(error="ModuleNotFoundError: No module named 'xprof'"))
    assert (check.state, check.advice) == ("warning", ("pip install 'tf-frame[profile]'",))


PEAK = {"device": "", "matrix_product": 1.2e12, "convolution": 9e10, "bytes_per_sec": 3.9e10}
PEAK["kept"] = "a/peak.json"


def all_checks(run="run", **answers):
    every = {"tensorflow": Answer({"gpus": ["A"], "cuda": True}), "profile_tab": Answer()}
    every |= {"plugins": Answer([]), "peak": Answer(PEAK)}
    return list(packages.import_checks({**every, **answers}, {}, run))


def test_plugins(installed):
    rows = [
        {**ROW, "state": "ok", "problem": ""},
        {**ROW, "state": "broken", "problem": "No module named 'x'"},
        {**ROW, "state": "conflict", "problem": "two packages have it"},
    ]
    _, _, _, count, broken, conflict, _ = all_checks(plugins=Answer(rows))
    assert count.found == "3; models: net"
    assert broken.found == "net of tf-frame-net 1.0 is broken: No module named 'x'"
    assert (broken.state, conflict.state) == ("problem", "warning")
    assert broken.advice == ("pip install --upgrade tf-frame-net",)


def test_the_peak_of_the_machine_is_shown_and_is_never_a_problem(installed):
    check = all_checks()[-1]
    assert (check.name, check.state) == ("peak", "OK")
    assert check.found == (
        "CPU: matrix product 1,200 GFLOP/s, 3x3 convolution 90 GFLOP/s (float32), memory 39 GB/s"
    )
    assert check.advice == ("runs say their share of the greater one; kept in a/peak.json",)
    check = all_checks(peak=Answer(error="MemoryError"))[-1]
    assert (check.state, check.found) == ("warning", "it could not be measured: MemoryError")


def test_a_processor_without_avx(installed):
    ended = Answer(error="the process ended by itself (Illegal instruction)")
    assert "a processor with AVX" in all_checks(tensorflow=ended)[0].advice[0]


def test_what_was_not_tried(installed):
    ended = Answer(error="the process ended", tried=False)
    checks = all_checks(
        "gs://run",
        tensorflow=Answer(error="crash"),
        **dict.fromkeys(("profile_tab", "plugins", "peak", "folder"), ended),
    )
    assert [check.state for check in checks] == ["problem", *["warning"] * 5]


def test_a_remote_folder(installed):
    assert all_checks("gs://run", folder=Answer())[-1].found == "gs://run can be written"
    denied = all_checks("gs://run", folder=Answer(error="OSError: denied"))[-1]
    assert denied.state == "problem"
    assert "OSError: denied" in denied.found
