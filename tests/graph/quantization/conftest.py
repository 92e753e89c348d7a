"""Fixtures of the tests of quantization."""

from variable_modes import variable_mode_fixture

variable_mode = variable_mode_fixture(on_demand="reference")
