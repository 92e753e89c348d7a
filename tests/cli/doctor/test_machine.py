"""Cores, limits and GPUs, of machines that are written into files."""

import pytest

from tf_frame.cli.doctor import machine
from tf_frame.cli.doctor.child import Answer

V2 = "0::/pod/job\n"
V1 = "5:memory:/job\n4:cpu,cpuacct:/job\n0::/init\n"


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
