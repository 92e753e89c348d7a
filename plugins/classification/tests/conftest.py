"""Fixtures of several tests."""

import pytest

from tf_frame.testing.elements import read_elements


@pytest.fixture
def take():
    """Returns the first elements of a data set, or all of them, as NumPy values."""
    return read_elements
