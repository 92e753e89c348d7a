"""Cores, limits and GPUs of machines that are written into files; variables, folders, ports."""

import json
import os
import shutil
import tempfile

import pytest

from tf_frame.cli.doctor import machine
from tf_frame.cli.doctor.probe import Answer
from tf_frame.errors import TfFrameError

V2 = "0::/pod/job\n"
V1 = "5:memory:/job\n4:cpu,cpuacct:/job\n0::/init\n"
CLUSTER = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}


@pytest.fixture
def limit(tmp_path):
    """Writes files of control groups; returns the cores that they allow."""

    def limit(groups, **files):
        for path, content in files.items():
            file = tmp_path / "root" / path.replace("__", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        (tmp_path / "groups").write_text(groups)
        return machine.container_cpus(tmp_path / "groups", tmp_path / "root")

    return limit


def test_the_container_allows_the_least_of_its_groups(limit):
    files = {"pod__job__cpu.max": "max 100000\n", "pod__cpu.max": "150000 100000\n"}
    assert limit(V2, **files, **{"cpu.max": "400000 100000\n"}) == 1.5


def test_control_groups_of_the_first_version(limit):
    folder = "cpu,cpuacct__job"
    files = {f"{folder}__cpu.cfs_quota_us": "50000\n", f"{folder}__cpu.cfs_period_us": "100000\n"}
    assert limit(V1, **files) == 0.5
    assert limit(V1, **{f"{folder}__cpu.cfs_quota_us": "-1\n"}) is None


def test_no_limit(limit, tmp_path):
    assert limit(V2, **{"pod__job__cpu.max": "max 100000\n"}) is None
    assert machine.container_cpus(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("check", "state", "text"),
    [
        (machine.cpu(4, 8, None), "OK", "4 cores of 8"),
        (machine.cpu(4, 4, 4.0), "OK", "4 cores"),
        (machine.cpu(8, 8, 1.5), "warning", "8 cores, and the container may use the time of 1.5"),
        (machine.open_files(1024), "OK", "1024 at most"),
        (machine.open_files(machine.resource.RLIM_INFINITY), "OK", "no limit"),
        (machine.open_files(256), "warning", "256 at most"),
        (machine.shared_memory(64 * 2**20, nvidia=True), "warning", "64.0 MiB in /dev/shm"),
        (machine.shared_memory(64 * 2**20, nvidia=False), "OK", "64.0 MiB in /dev/shm"),
        (machine.shared_memory(2**30, nvidia=True), "OK", "1.0 GiB in /dev/shm"),
    ],
)
def test_cores_open_files_and_shared_memory(check, state, text):
    assert (check.state, check.found) == (state, text)
    assert bool(check.advice) == (state == "warning")
    assert "container" not in text or "--intra_op_threads 2" in check.advice[0]


@pytest.mark.parametrize(
    ("names", "cuda", "nvidia", "environment", "state", "text"),
    [
        (["A100", "A100"], True, True, {}, "OK", "2: A100, A100"),
        ([], False, False, {}, "OK", "none"),
        ([], True, True, {"CUDA_VISIBLE_DEVICES": ""}, "warning", "none: CUDA_VISIBLE_DEVICES="),
        ([], False, True, {}, "problem", "unseen by TensorFlow, which is built without CUDA"),
        ([], True, True, {}, "problem", "there is a GPU, unseen by TensorFlow"),
    ],
)
def test_gpus(names, cuda, nvidia, environment, state, text):
    answer = Answer({"gpus": names, "cuda": cuda})
    check = machine.gpus(answer, environment, nvidia=nvidia)
    assert check.state == state
    assert text in check.found
    assert machine.gpus(Answer(error="ImportError"), {}, nvidia=True).state == "warning"


def variables(**values):
    return {check.name: check for check in machine.environment_checks(values)}


def test_variables_of_interest_are_shown_with_their_effect():
    assert set(variables(HOME="/root")) == {"environment"}
    harmless = {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "upb", "TF_CPP_MAX_VLOG_LEVEL": "0"}
    assert set(variables(**harmless)) == {"environment"}
    check = variables(CUDA_VISIBLE_DEVICES="", PYTHONPATH="/a" * 100)
    assert check["CUDA_VISIBLE_DEVICES"].found == ": TensorFlow sees only these GPUs, numbered anew"
    assert len(check["PYTHONPATH"].found) < 140


def test_a_variable_that_costs_speed_or_connections_is_a_warning():
    harmful = {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python", "TF_CPP_MAX_VLOG_LEVEL": "2"}
    checks = variables(**harmful, grpc_proxy="http://proxy:80")
    assert {check.state for check in checks.values()} == {"warning"} and len(checks) == 3


@pytest.mark.parametrize(
    ("value", "state", "text"),
    [
        ("{", "problem", "TF_CONFIG is not JSON"),
        (json.dumps({"cluster": CLUSTER}), "problem", "task type must be set"),
        (
            json.dumps({"cluster": CLUSTER, "task": {"type": "worker", "index": 0}}),
            "OK",
            "a run here is worker-0 of 3 tasks",
        ),
        (json.dumps({"task": {"type": "worker", "index": 0}}), "OK", "a single process"),
    ],
)
def test_tf_config(value, state, text):
    check = variables(TF_CONFIG=value)["TF_CONFIG"]
    assert check.state == state
    assert text in check.found


def folder_check(folder):
    return machine.local_folder("model_dir", str(folder), "another one")


def test_a_folder_that_exists_will_be_made_or_cannot_be_written(tmp_path):
    assert folder_check(tmp_path).found.startswith(f"{tmp_path}: ")
    check = folder_check(tmp_path / "a/b")
    assert check.state == "OK"
    assert f"to be made in {tmp_path}" in check.found
    assert os.listdir(tmp_path) == []
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    check = folder_check(tmp_path / "link")
    assert (check.state, check.advice) == ("problem", ("another one",))


def test_little_space(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=5 * 2**20)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    check = folder_check(tmp_path)
    assert check.state == "warning"
    assert check.found.endswith("5.0 MiB free")


def test_no_temporary_folder_at_all(monkeypatch, tmp_path):
    def missing():
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", missing)
    checks = {check.name: check for check in machine.folder_checks(str(tmp_path))}
    assert checks["temporary folder"].state == "problem"
    assert checks["loopback"].state == checks["ports"].state == "OK"


def test_no_loopback():
    check = machine.loopback("192.0.2.1")  # An address of documentation, which no machine has.
    assert check.state == "problem"
    assert check.found.startswith("192.0.2.1: ")


def test_no_free_ports_and_a_remote_folder(monkeypatch):
    def none(count):
        raise TfFrameError("8 ports are needed")

    monkeypatch.setattr(machine, "free_ports", none)
    # A remote folder is left to the child process.
    checks = {check.name: check for check in machine.folder_checks("gs://bucket/run")}
    assert "model_dir" not in checks
    assert (checks["ports"].state, checks["ports"].found) == ("problem", "8 ports are needed")


@pytest.mark.parametrize("name", ["model_dir", "temporary folder"])
def test_home_is_understood(name, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "to be made" not in machine.local_folder(name, "~", "").found
