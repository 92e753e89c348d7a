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

    def limit(own, **files):
        for path, content in files.items():
            file = tmp_path / "root" / path.replace("__", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        (tmp_path / "own").write_text(own)
        return machine.container_cpus(tmp_path / "own", tmp_path / "root")

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


def test_cpu():
    assert machine.cpu(4, 8, None).found == "4 cores of 8"
    assert machine.cpu(4, 4, 4.0).state == "OK"
    limited = machine.cpu(8, 8, 1.5)
    assert (limited.state, limited.found[-11:]) == ("warning", "time of 1.5")
    assert "--intra_op_threads 2" in limited.advice[0]


def test_open_files():
    assert machine.open_files(1024).state == "OK"
    assert machine.open_files(machine.resource.RLIM_INFINITY).found == "no limit"
    assert machine.open_files(256).state == "warning"


def test_shared_memory():
    assert machine.shared_memory(64 * 2**20, nvidia=True).state == "warning"
    assert machine.shared_memory(64 * 2**20, nvidia=False).state == "OK"
    assert machine.shared_memory(2**30, nvidia=True).found == "1.0 GiB in /dev/shm"


@pytest.mark.parametrize(
    ("names", "cuda", "nvidia", "environment", "state", "found"),
    [
        (["A100", "A100"], True, True, {}, "OK", "2: A100, A100"),
        ([], False, False, {}, "OK", "none"),
        ([], True, True, {"CUDA_VISIBLE_DEVICES": ""}, "warning", "none: CUDA_VISIBLE_DEVICES="),
        ([], False, True, {}, "problem", "unseen by TensorFlow, which is built without CUDA"),
        ([], True, True, {}, "problem", "there is a GPU, unseen by TensorFlow"),
    ],
)
def test_gpus(names, cuda, nvidia, environment, state, found):
    answer = Answer({"gpus": names, "cuda": cuda})
    check = machine.gpus(answer, environment, nvidia=nvidia)
    assert check.state == state
    assert found in check.found


def test_gpus_are_not_known_without_tensorflow():
    assert machine.gpus(Answer(error="ImportError"), {}, nvidia=True).state == "warning"


def variables(**values):
    return {check.name: check for check in machine.environment_checks(values)}


def test_no_variable_of_interest():
    assert set(variables(HOME="/root")) == {"environment"}


def test_a_variable_is_shown_with_its_effect():
    check = variables(CUDA_VISIBLE_DEVICES="", PYTHONPATH="/a" * 100)
    assert check["CUDA_VISIBLE_DEVICES"].found == ": TensorFlow sees only these GPUs, numbered anew"
    assert len(check["PYTHONPATH"].found) < 140


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python"),
        ("TF_CPP_MAX_VLOG_LEVEL", "2"),
        ("grpc_proxy", "http://proxy:80"),
    ],
)
def test_a_variable_that_costs_speed_or_connections_is_a_warning(name, value):
    assert variables(**{name: value})[name].state == "warning"


def test_harmless_values_are_not_shown():
    harmless = {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "upb", "TF_CPP_MAX_VLOG_LEVEL": "0"}
    assert set(variables(**harmless)) == {"environment"}


@pytest.mark.parametrize(
    ("value", "state", "found"),
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
def test_tf_config(value, state, found):
    check = variables(TF_CONFIG=value)["TF_CONFIG"]
    assert check.state == state
    assert found in check.found


def folder_check(folder):
    return machine.local_folder("model_dir", str(folder), "another one")


def test_a_folder_that_is_there_and_one_that_will_be_made(tmp_path):
    assert folder_check(tmp_path).found.startswith(f"{tmp_path}: ")
    check = folder_check(tmp_path / "a/b")
    assert check.state == "OK"
    assert f"to be made in {tmp_path}" in check.found
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written(tmp_path):
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
    found = {check.name: check for check in machine.folder_checks(str(tmp_path))}
    assert found["temporary folder"].state == "problem"
    assert found["loopback"].state == found["ports"].state == "OK"


def test_a_remote_folder_is_left_to_the_child():
    assert "model_dir" not in {check.name for check in machine.folder_checks("gs://bucket/run")}


def test_no_loopback():
    check = machine.loopback("192.0.2.1")  # An address of documentation, which no machine has.
    assert check.state == "problem"
    assert check.found.startswith("192.0.2.1: ")


def test_no_free_ports(monkeypatch, tmp_path):
    def none(count):
        raise TfFrameError("8 ports are needed")

    monkeypatch.setattr(machine, "free_ports", none)
    found = {check.name: check for check in machine.folder_checks(str(tmp_path))}
    assert (found["ports"].state, found["ports"].found) == (
        "problem",
        "8 ports are needed",
    )


@pytest.mark.parametrize("name", ["model_dir", "temporary folder"])
def test_home_is_understood(name, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "to be made" not in machine.local_folder(name, "~", "").found
