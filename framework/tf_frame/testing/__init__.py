"""Modules for the tests of plugins.

`conformance` has the suites of checks, and `exact_resume` a check of inputs. `toy` has the smallest
plugins that train, and makes training setups; `distributions` registers plugins without an install.
`local_job` and `local_servers` start the processes of a cluster, and `ports` finds free ports.
`elements` reads data sets, `events` reads event files. `clock` sets the time, and `session_runs`
counts calls of sessions.
"""

# Submodules; importing this package imports none of them. Other submodules are for the tests of
# tf-frame.
__all__ = [
    "clock",
    "conformance",
    "distributions",
    "elements",
    "events",
    "exact_resume",
    "local_job",
    "local_servers",
    "ports",
    "session_runs",
    "toy",
]
