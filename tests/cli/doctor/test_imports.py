"""Checks made of the child's answers."""

import pytest
from packaging.requirements import Requirement

from tf_frame.cli.doctor import imports
from tf_frame.cli.doctor.child import Answer

OLD = "VersionError: loading google/rpc/error_details.proto: gencode 6.33.5 runtime 6.31.1"
ROW = {"kind": "model", "name": "net", "distribution": "tf-frame-net", "version": "1.0"}


@pytest.fixture
def installed(monkeypatch):
    versions = {"xprof": "2.24.2", "protobuf": "7.0"}
    monkeypatch.setattr(imports, "version_of", lambda name: versions.get(name, ""))
    needed = {"protobuf": Requirement("protobuf>=6.33.5,<8")}
    monkeypatch.setattr(imports, "requirements", lambda extra: needed)
    return versions


@pytest.mark.parametrize(
    ("protobuf", "answer", "state", "found", "advice"),
    [
        ("7.0", Answer(), "OK", "TensorBoard has it", None),
        ("6.31.1", Answer(error=OLD), "problem", f"missing in TensorBoard: {OLD}", "'protobuf<8,"),
        ("7.0", Answer(error="ImportError: x"), "problem", "ImportError: x", "--force-reinstall"),
        ("7.0", Answer(error="ended", tried=False), "warning", "not looked at", None),
    ],
)
def test_the_profile_tab(installed, protobuf, answer, state, found, advice):
    installed["protobuf"] = protobuf
    check = imports.profile_tab(answer)
    assert check.state == state
    assert found in check.found
    assert (advice in check.advice[0]) if advice else not check.advice


def test_the_profile_tab_without_xprof(installed):
    del installed["xprof"]
    check = imports.profile_tab(Answer(error="ModuleNotFoundError: No module named 'xprof'"))
    assert (check.state, check.advice) == ("warning", ("pip install 'tf-frame[profile]'",))


def all_checks(run="run", **answers):
    every = {"tensorflow": Answer({"gpus": ["A"], "cuda": True}), "profile_tab": Answer()}
    return list(imports.checks({**every, "plugins": Answer([]), **answers}, {}, run))


def test_plugins(installed):
    rows = [
        {**ROW, "state": "ok", "problem": ""},
        {**ROW, "state": "broken", "problem": "No module named 'x'"},
        {**ROW, "state": "conflict", "problem": "two packages have it"},
    ]
    _, _, _, count, broken, conflict = all_checks(plugins=Answer(rows))
    assert count.found == "3; models: net"
    assert broken.found == "net of tf-frame-net 1.0 is broken: No module named 'x'"
    assert (broken.state, conflict.state) == ("problem", "warning")
    assert broken.advice == ("pip install --upgrade tf-frame-net",)


def test_a_processor_without_avx(installed):
    ended = Answer(error="the process ended by itself (Illegal instruction)")
    assert "a processor with AVX" in all_checks(tensorflow=ended)[0].advice[0]


def test_what_was_not_tried(installed):
    ended = Answer(error="the process ended", tried=False)
    found = all_checks(
        "gs://run", tensorflow=Answer(error="crash"), profile_tab=ended, plugins=ended, folder=ended
    )
    assert [check.state for check in found] == ["problem", *["warning"] * 4]


def test_a_remote_folder(installed):
    assert all_checks("gs://run", folder=Answer())[-1].found == "gs://run can be written"
    denied = all_checks("gs://run", folder=Answer(error="OSError: denied"))[-1]
    assert denied.state == "problem"
    assert "OSError: denied" in denied.found
