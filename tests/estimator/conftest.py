"""The fixture of the variables' kind, for the tests of this folder."""

from variable_modes import variable_mode_fixture

# Which kind it is matters to the updates of the graph, whose tests always have both.
variable_mode = variable_mode_fixture(on_demand="reference")
