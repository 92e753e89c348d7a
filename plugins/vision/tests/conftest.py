"""Fixtures of several tests."""

import pytest

from tf_frame.testing.elements import elements_of


@pytest.fixture
def take():
    """Returns the first elements of a data set, or all of them, as NumPy values."""
    return elements_of
