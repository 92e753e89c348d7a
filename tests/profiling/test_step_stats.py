import logging

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.profiling.step_stats import Transfer, producer_name, read_executions

HOUR = 3600 * 10**9
BEGIN = 1_790_000_000 * 10**9
SOURCE, DESTINATION = "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/device:CPU:0"


def make_stats(*nodes, device="/device:CPU:0"):
    metadata = tf.RunMetadata()
    metadata.step_stats.dev_stats.add(device=device).node_stats.extend(nodes)
    return metadata.step_stats


def node(name, label="", **fields):
    fields = {"all_start_nanos": BEGIN, **fields}
    return (
        tf.RunMetadata()
        .step_stats.dev_stats.add()
        .node_stats.add(node_name=name, timeline_label=label, **fields)
    )


def only(step_stats):
    ((execution,),) = read_executions(step_stats).values()
    return execution


@pytest.mark.parametrize(
    ("label", "kind", "inputs"),
    [
        ("a/b = NoOp()", "NoOp", ()),
        ("a/b = Add(x, y:1, ^z)", "Add", ("x", "y:1", "^z")),
        ("[cpu 12.0MB 3.0MB] a/b = Conv2D(x)", "Conv2D", ("x",)),
        # TensorFlow forgets the bracket.
        ("a/b = _Recv(edge_5_x @/job:ps", "_Recv", ("edge_5_x @/job:ps",)),
        ("", "a/b", ()),
    ],
)
def test_a_label_has_type_and_inputs(label, kind, inputs):
    execution = only(make_stats(node("a/b", label)))
    assert (execution.name, execution.type, tuple(execution.inputs)) == ("a/b", kind, inputs)


def test_times_kernels_and_devices():
    fields = {"all_start_micros": 5, "all_end_rel_micros": 0}
    exact = node("a", all_end_rel_nanos=300, **fields)
    coarse = node("a", **{**fields, "all_end_rel_micros": 2, "all_start_nanos": 0})
    assert only(make_stats(exact))[3:5] == (BEGIN, BEGIN + 300)
    assert only(make_stats(coarse))[3:5] == (5000, 7000)
    assert only(make_stats(node("a", all_end_rel_nanos=-300)))[3:5] == (BEGIN, BEGIN)
    device = "/device:GPU:0/stream:all"
    plain = only(make_stats(node("conv:Conv2D"), device=device))
    annotated = only(make_stats(node("kernel", "void f() @@conv:Conv2D#id=1"), device=device))
    assert (plain.name, plain.type) == (annotated.name, annotated.type) == ("conv", "Conv2D")
    stats = make_stats(node("b", all_start_nanos=BEGIN + 5))
    stats.dev_stats.add(device="/device:CPU:0").node_stats.append(node("a"))
    ((found),) = read_executions(stats).values()
    assert [execution.name for execution in found] == ["a", "b"]
    assert read_executions(tf.RunMetadata().step_stats) == {}
    assert read_executions(make_stats()) == {"/device:CPU:0": []}


@pytest.mark.parametrize(
    ("label", "requested", "size"),
    [
        ("[0B] [0.000000Mb/s] edge_16_c2/w/read", 0, 0),
        ("[20B] edge_16_c2/w/read", 0, 20),
        ("[1.5MB] edge_16_c2/w/read", 0, 1.5 * 2**20),
        ("[1.5MB] edge_16_c2/w/read", 1_500_000, 1_500_000),
        ("edge_16_c2/w/read", 0, 0),
    ],
)
def test_a_transfer_has_tensor_source_destination_and_bytes(label, requested, size):
    stats = node("RecvTensor", f"{label} from {SOURCE} to {DESTINATION}")
    output = stats.output.add().tensor_description.allocation_description
    output.requested_bytes = requested
    execution = only(make_stats(stats))
    assert execution.transfer == Transfer("c2/w/read", SOURCE, DESTINATION, size)
    assert execution.type == "RecvTensor"


def test_an_operation_whose_clock_is_off_is_left_out_with_a_warning(caplog):
    stats = make_stats(
        node("first"),
        node("second"),
        node("third"),
        node("ages ago", all_start_nanos=5),
        node("too late", all_start_nanos=BEGIN + 2 * HOUR),
    )
    with caplog.at_level(logging.WARNING, "tf_frame"):
        ((found),) = read_executions(stats).values()
    assert [execution.name for execution in found] == ["first", "second", "third"]
    assert "2 of 5 operations" in caplog.text


@pytest.mark.parametrize("name", ["conv", "conv:1", "conv/_5"])
def test_an_input_names_its_producer(name):
    assert producer_name(name) == "conv"
