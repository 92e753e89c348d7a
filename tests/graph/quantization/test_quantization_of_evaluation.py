"""The evaluation graph rounds from the same step on as the training graph."""

import pytest

from tf_frame.config.run_options import RunOptions
from tf_frame.graph.inference.eval_graph import build_eval_graph
from tf_frame.plugin import InputInfo
from tf_frame.testing.toy import ToyInput, ToyModel


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(
    ("delay_steps", "rounds", "waits"), [(-1, False, False), (0, True, False), (7, True, True)]
)
def test_evaluation_waits_for_the_step_of_the_options(delay_steps, rounds, waits):
    config = RunOptions(quantize_delay_step=delay_steps)
    model = ToyModel(params=ToyModel.Params(), info=InputInfo())
    source = ToyInput(params=ToyInput.Params())
    graph = build_eval_graph(model=model, source=source, config=config).graph
    operations = graph.get_operations()
    assert any("FakeQuant" in op.type for op in operations) is rounds
    compared = [op for op in operations if op.name.endswith("quantize_now")]
    assert len(compared) == waits
