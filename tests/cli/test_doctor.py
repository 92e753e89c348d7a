"""`tf-frame doctor`: its lines, its JSON and its exit code; the child process is a fake one."""

import json
import sys

import pytest

from tf_frame.cli.doctor import probe

HEALTHY = {
    "tensorflow": {"result": {"version": "2.21.0", "gpus": [], "cuda": False}},
    "profile_tab": {"result": None},
    "plugins": {"result": [{"kind": "model", "name": "deeplab", "problem": ""}]},
    "peak": {
        "result": {
            "device": "",
            "matrix_product": 9e9,
            "convolution": 8e9,
            "bytes_per_sec": 4e10,
            "kept": "f",
        }
    },
}


@pytest.fixture
def doctor(monkeypatch, run):
    """Runs the command with the given answers of the child; returns exit code and output."""

    def doctor(*words, **answers):
        lines = []
        for name, answer in {**HEALTHY, **answers}.items():
            lines += [json.dumps({"begins": name}), json.dumps(answer)]
        program = (sys.executable, "-S", "-c", f"print({chr(10).join(lines)!r})")
        monkeypatch.setattr(probe, "PROGRAM", program)
        return run(*words)[:2]

    monkeypatch.delenv("TF_CONFIG", raising=False)
    return doctor


def test_a_healthy_machine_has_no_problem(doctor, tmp_path):
    code, out = doctor(tmp_path)
    assert code == 0
    lines = out.splitlines()
    assert lines[-1].startswith("no problems, ")
    names = [line[9:].split("  ")[0] for line in lines if line[:8].strip() in ("OK", "warning")]
    for name in ("python", "tensorflow", "protobuf", "cpu", "open files", "model_dir", "plugins"):
        assert name in names
    assert f"{tmp_path}: " in out and " free" in out


def test_a_problem_is_exit_code_1_and_says_what_to_do(doctor, tmp_path):
    file = tmp_path / "file"
    file.touch()
    code, out = doctor(file / "run")
    assert code == 1
    assert f"{file} cannot be written: Not a directory\n" in out
    assert " " * 27 + "give another MODEL_DIR" in out
    assert "1 problem, " in out


def test_json(doctor, tmp_path):
    error = "ImportError: libcudart.so.12: cannot open shared object file"
    code, out = doctor(tmp_path, "--json", tensorflow={"error": error})
    parsed = json.loads(out)
    checks = {check["name"]: check for check in parsed["checks"]}
    assert (code, parsed["problem"]) == (1, 1)
    assert checks["import tensorflow"]["found"] == error
    assert checks["import tensorflow"]["advice"]
    assert checks["gpu"]["state"] == "warning"
    assert checks["plugins"]["state"] == "OK"


@pytest.mark.slow
def test_the_real_child_imports_tensorflow_and_the_plugins(run, tmp_path):
    code, out, _ = run(tmp_path, "--json")
    parsed = {check["name"]: check for check in json.loads(out)["checks"]}
    assert code == 0
    assert parsed["import tensorflow"]["state"] == "OK"
    assert parsed["Profile tab"]["found"] == "TensorBoard has it"
    assert "deeplab" in parsed["plugins"]["found"]
