"""Environment variables that matter, and those that do not."""

import json

import pytest

from tf_frame.cli.doctor import environment

CLUSTER = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}


def checks(**variables):
    return {check.name: check for check in environment.checks(variables)}


def test_none():
    assert set(checks(HOME="/root")) == {"environment"}


def test_a_variable_is_shown_with_its_effect():
    check = checks(CUDA_VISIBLE_DEVICES="", PYTHONPATH="/a" * 100)
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
def test_what_costs_speed_or_connections_is_a_warning(name, value):
    assert checks(**{name: value})[name].state == "warning"


def test_harmless_values_are_not_shown():
    harmless = {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "upb", "TF_CPP_MAX_VLOG_LEVEL": "0"}
    assert set(checks(**harmless)) == {"environment"}


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
    check = checks(TF_CONFIG=value)["TF_CONFIG"]
    assert check.state == state
    assert found in check.found
