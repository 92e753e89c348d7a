"""Folders and local connections."""

import os
import shutil
import tempfile

import pytest

from tf_frame.cli.doctor import storage
from tf_frame.errors import TfFrameError


def folder_check(folder):
    return storage.local_folder("model_dir", str(folder), "another one")


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
    found = {check.name: check for check in storage.checks(str(tmp_path))}
    assert found["temporary folder"].state == "problem"
    assert found["loopback"].state == found["ports"].state == "OK"


def test_a_remote_folder_is_left_to_the_child():
    assert "model_dir" not in {check.name for check in storage.checks("gs://bucket/run")}


def test_no_loopback():
    check = storage.loopback("192.0.2.1")  # An address of documentation, which no machine has.
    assert check.state == "problem"
    assert check.found.startswith("192.0.2.1: ")


def test_no_free_ports(monkeypatch, tmp_path):
    def none(count):
        raise TfFrameError("8 ports are needed")

    monkeypatch.setattr(storage, "free_ports", none)
    found = {check.name: check for check in storage.checks(str(tmp_path))}
    assert (found["ports"].state, found["ports"].found) == (
        "problem",
        "8 ports are needed",
    )


@pytest.mark.parametrize("name", ["model_dir", "temporary folder"])
def test_home_is_understood(name, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "to be made" not in storage.local_folder(name, "~", "").found
