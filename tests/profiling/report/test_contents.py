import dataclasses
import json

from example_report import example_report
from tf_frame.profiling.report.contents import VERSION, to_json


def test_json_has_the_names_of_the_attributes_and_a_version():
    report = example_report()
    assert () not in [getattr(report, field.name) for field in dataclasses.fields(report)]
    content = json.loads(to_json(report))
    assert content["version"] == VERSION
    assert content.keys() == {field.name for field in dataclasses.fields(report)}
    assert content["operations"][0] == dataclasses.asdict(report.operations[0]) | {
        "ms_of_steps": list(report.operations[0].ms_of_steps)
    }
    assert content["step"]["ms_of_steps"] == list(report.step.ms_of_steps)
    assert {"kind", "name", "label", "ms", "share", "ms_of_steps"} == content["phases"][0].keys()
    assert list(content["costs"][0].values())[:3] == ["", 23_528_512, 16_070_000_000]
