import os
import re

import numpy as np
import pytest

from tf_frame.checkpoint.find.contents import (
    compute_statistics,
    describe_variables,
    list_checkpoints,
)
from tf_frame.checkpoint.find.path import checkpoint_files
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.errors import ConfigError


@pytest.fixture
def checkpoint(write):
    values = {
        "net/w": np.array([[3.0, -4.0]], np.float32),
        "global_step": np.int64(2**60 + 1),
        "texts": np.array([b"a", b"bc"], object),
        "flag": np.array([True, False, False, True]),
        "z": np.array([1j], np.complex64),
    }
    return Checkpoint(write("a", values))


def test_variables_are_described_in_the_order_of_their_names(checkpoint):
    found = describe_variables(checkpoint)
    assert [(c.name, c.shape, c.dtype, c.size, c.size_bytes) for c in found] == [
        ("flag", [4], "bool", 4, 4),
        ("global_step", [], "int64", 1, 8),
        ("net/w", [1, 2], "float32", 2, 8),
        ("texts", [2], "string", 2, None),
        ("z", [1], "complex64", 1, 8),
    ]
    assert {c.statistics for c in found} == {None}


def test_values_are_summed_up_where_they_are_real_numbers(checkpoint):
    found = {c.name: c.statistics for c in describe_variables(checkpoint, values=True)}
    w = found["net/w"]
    assert (w.min, w.max, w.mean, w.norm, w.nan, w.infinite) == (-4.0, 3.0, -0.5, 5.0, 0, 0)
    assert found["global_step"].max == 2**60 + 1
    assert found["flag"].mean == 0.5
    assert found["texts"] is None
    assert found["z"] is None


def test_values_that_are_not_finite_are_counted_and_left_out():
    s = compute_statistics(np.array([1, np.nan, 3, np.inf, -np.inf], np.float32))
    assert (s.min, s.max, s.mean, s.nan, s.infinite) == (1.0, 3.0, 2.0, 1, 2)
    assert s.norm == pytest.approx(10**0.5)


@pytest.mark.parametrize("values", [[], [np.nan]])
def test_without_a_finite_value_there_is_nothing_to_compute(values):
    s = compute_statistics(np.array(values, np.float32))
    assert (s.min, s.max, s.mean, s.norm) == (None, None, None, None)
    assert (s.nan, s.infinite) == (len(values), 0)
    # A sum beyond 64 bits is left out.
    s = compute_statistics(np.array([1e308, 1e308]))
    assert (s.max, s.mean, s.norm) == (1e308, None, None)


def test_the_filter_finds_its_pattern_anywhere_and_an_error_has_the_nearest_name(checkpoint):
    found = describe_variables(checkpoint, pattern=re.compile("/w|step$"))
    assert [c.name for c in found] == ["global_step", "net/w"]
    message = "^--filter 'nat/w' is found in none of the 5 names .*net"
    with pytest.raises(ConfigError, match=message):
        describe_variables(checkpoint, pattern=re.compile("nat/w"))


def test_every_checkpoint_of_a_folder_is_described(tmp_path, save):
    paths = save(3, 20)
    for secs, path in enumerate(paths):
        for file in checkpoint_files(path):
            os.utime(file, (1000 + secs, 1000 + secs))
    first, second = list_checkpoints(str(tmp_path))
    assert (first.path, first.step, first.damage) == (paths[0], 3, "")
    assert (second.path, second.step, second.saved_at_secs) == (paths[1], 20, 1001.0)
    assert (first.variables, first.parameters) == (2, 65)
    files = list(tmp_path.glob("model.ckpt-3.*"))
    assert first.size_bytes == sum(file.stat().st_size for file in files)


def test_a_damaged_checkpoint_is_described_with_its_damage(tmp_path, save, corrupt):
    good, bad = save(3, 20)
    corrupt(bad)
    first, second = list_checkpoints(str(tmp_path))
    assert first.path == good
    assert (second.path, second.step, second.variables) == (bad, None, None)
    assert "\n" not in second.damage
    assert second.damage
    assert second.size_bytes > 0


def test_a_listed_checkpoint_that_is_gone_is_damaged_and_one_not_listed_is_there(
    tmp_path, save, write
):
    gone, there = save(3, 20)
    for file in checkpoint_files(gone):
        os.remove(file)
    unlisted = write("pretrained", {"w": [1.0, 2.0]})
    first, second, third = list_checkpoints(str(tmp_path))
    assert (first.path, first.saved_at_secs, first.size_bytes) == (gone, None, 0)
    assert first.damage
    assert (second.path, second.step, second.parameters) == (unlisted, None, 2)
    assert (third.path, third.damage) == (there, "")


def test_a_folder_without_checkpoints_has_none_and_no_folder_is_an_error(tmp_path, save):
    assert list_checkpoints(str(tmp_path)) == []
    with pytest.raises(ConfigError, match=f"^there is no folder {tmp_path}/none$"):
        list_checkpoints(str(tmp_path / "none"))
    (path,) = save(3)
    with pytest.raises(ConfigError, match=f"checkpoint show {path} describes one"):
        list_checkpoints(path)
