import dataclasses
import json

import pytest

from hand_made_steps import Recording
from tf_frame.profiling.report.build_report import build_report
from tf_frame.profiling.report.contents import VERSION, to_json
from tf_frame.profiling.step_profile import Cost, HookCost


@pytest.fixture
def report():
    """A report with rows in every table."""
    recording = Recording()
    for ms in (10, 12):
        ops = [
            ("clone_0/a/Conv2D", "Conv2D", 0, 4),
            ("clone_1/b/PyFunc", "PyFunc", 2, 9),
            ("n", "IteratorGetNext", 0, 1),
        ]
        hooks = [("A", 9, 10, "summary")]
        recording.step(ms, session=(0, 9), ops=ops, hooks=hooks, memory=[(10, {"a": 5})])
    profile = recording.profile(
        clone_scopes=("clone_0", "clone_1"),
        costs=[Cost("", 5, None), Cost("a", 5, 10)],
        hooks=[HookCost("A", "summary", 1, 0.1, None)],
        examples_per_step=4,
    )
    return build_report([profile], run="run")


def test_json_has_the_names_of_the_attributes_and_a_version(report):
    empty = [
        field.name for field in dataclasses.fields(report) if getattr(report, field.name) == ()
    ]
    assert not empty
    content = json.loads(to_json(report))
    assert content["version"] == VERSION
    assert content.keys() == {field.name for field in dataclasses.fields(report)}
    assert content["operations"][0] == dataclasses.asdict(report.operations[0]) | {
        "ms_of_steps": list(report.operations[0].ms_of_steps)
    }
    assert content["step"]["ms_of_steps"] == [10, 12]
    assert {"kind", "name", "label", "ms", "share", "ms_of_steps"} == content["phases"][0].keys()
