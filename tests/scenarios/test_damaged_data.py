"""Damaged data sets of every input are used, or refused in one line; see tools/fuzz/fuzz.py."""

import subprocess
import sys

import pytest

from source_tree import ROOT


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(900)
def test_damage_is_refused_in_one_line():
    # The data sets of seed -1 are as they were written, and are used.
    options = ["--seed", "-1", "--count", "3", "--secs", "300"]
    program = [sys.executable, ROOT / "tools/fuzz/fuzz.py", *options]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert len(lines) > 12
    assert all("used" in line for line in lines), done.stdout
