"""The peak of the machine: measured, kept, and read by runs on this machine alone."""

import dataclasses

import pytest

from tf_frame.profiling import machine_peak
from tf_frame.profiling.machine_peak import MachinePeak, measure_peak, read_peak, write_peak


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tf-frame"


def make_peak(**facts):
    own = {"machine": machine_peak.own_machine(), "device": "", "convolution": 8e9}
    return MachinePeak(**{**own, "matrix_product": 9e9, **facts})


def test_it_is_measured_within_its_time(monkeypatch):
    peak = measure_peak(secs=0.05)
    assert 1e6 < min(peak.matrix_product, peak.convolution) < peak.flops_per_sec + 1
    assert peak.machine == machine_peak.own_machine() and "cores" in peak.machine
    assert 1e8 < peak.bytes_per_sec < 1e13


def test_it_is_kept_for_the_machine_and_for_the_device_that_was_measured(cache):
    assert read_peak(on_gpu=False) is None
    write_peak(make_peak())
    assert read_peak(on_gpu=False) == make_peak() and read_peak(on_gpu=True) is None
    assert make_peak().flops_per_sec == 9e9
    write_peak(make_peak(device="A GPU"))
    assert read_peak(on_gpu=True).device == "A GPU" and read_peak(on_gpu=False) is None
    write_peak(dataclasses.replace(make_peak(), machine="another"))
    assert read_peak(on_gpu=False) is None


@pytest.mark.parametrize("text", ["{", "[]", '{"machine": 3}', ""])
def test_a_damaged_file_counts_as_none(cache, text):
    cache.mkdir(parents=True)
    (cache / "peak.json").write_text(text)
    assert read_peak(on_gpu=False) is None
    write_peak(make_peak())
    assert read_peak(on_gpu=False) == make_peak()
