"""Requirements of packages on tf-frame and on other packages."""

import pytest

import tf_frame
from tf_frame.plugin.requirements import incompatibility, unmet, unreadable


@pytest.mark.parametrize(
    ("line", "specifier"),
    [
        ("tf-frame", ""),
        ("tf-frame>=0.3,<0.4", ""),
        ("TF_Frame (>=0.3)", ""),
        ("tf-frame~=0.3.0", ""),
        ("tf-frame @ git+https://example.com/tf-frame", ""),
        ("tf-frame>=9; extra == 'later'", ""),
        ("tf-frame>=9; python_version < '3'", ""),
        ("tf-frame-deeplab>=9", ""),
        ("tf-framework>=9", ""),
        ("numpy>=99", ""),
        ("tf-frame>=9", ">=9"),
        ("tf.frame (<0.3)", "<0.3"),
        ("tf-frame[gpu]==0.3.0", "==0.3.0"),
        ("tf-frame>=9; python_version > '3'", ">=9"),
    ],
)
def test_a_requirement_that_this_version_does_not_meet_is_reported(monkeypatch, line, specifier):
    monkeypatch.setattr(tf_frame, "__version__", "0.3.1")
    problem = f"it needs tf-frame{specifier}, this is tf-frame 0.3.1" if specifier else ""
    assert incompatibility(["numpy", "tf-frame>=0.1", line]) == problem


def test_a_requirement_that_cannot_be_read_is_reported():
    problem_text = unreadable(["numpy>>1", "tf-frame>>9"])
    assert problem_text.startswith("its requirement 'tf-frame>>9' cannot be read: ")
    assert "\n" not in problem_text
    assert unreadable(["numpy>>1", "tf-frame>=0.1"]) == ""


def test_a_development_version_meets_the_range_of_its_release(monkeypatch):
    monkeypatch.setattr(tf_frame, "__version__", "0.4.0.dev1")
    assert incompatibility(["tf-frame>=0.3"]) == ""


VERSIONS = {"numpy": "2.1.0", "scipy": ""}


@pytest.mark.parametrize(
    "line",
    ["numpy", "numpy>=2", "tf-frame>=9", "gone; extra == 'x'", "scipy>9", "not>>readable"],
)
def test_a_requirement_that_is_met_or_cannot_be_judged_is_no_problem(line):
    assert unmet([line], VERSIONS.get) is None


@pytest.mark.parametrize(
    ("line", "needed", "problem"),
    [
        ("gone", "gone", "it needs gone, which is not installed"),
        ("gone[all]>=2 ; python_version > '3'", "gone>=2", "it needs gone>=2, which is not"),
        ("numpy<2", "numpy<2", "it needs numpy<2, installed is numpy 2.1.0"),
    ],
)
def test_a_requirement_on_another_package_that_is_not_met_is_named(line, needed, problem):
    requirement, description = unmet(["numpy", line], VERSIONS.get)
    assert requirement == needed
    assert description.startswith(problem)
