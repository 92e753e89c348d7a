"""The legacy package's fixtures, for whole trainers and scripts."""

from ...legacy.conftest import (  # noqa: F401
    control_flow_of_v1,
    graph,
    in_session,
    linear,
    variable_mode,
)
