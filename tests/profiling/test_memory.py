import tensorflow.compat.v1 as tf

from tf_frame.profiling.memory import memory_peaks
from tf_frame.profiling.run_metadata import run_options
from tf_frame.profiling.step_profile import Memory, Owner


def add_nodes(metadata, nodes, device):
    stats = metadata.step_stats.dev_stats.add(device=device)
    for name, begin, end, inputs in nodes:
        stats.node_stats.add(
            node_name=name,
            timeline_label=f"{name} = Op({', '.join(inputs)})",
            all_start_micros=begin,
            all_end_rel_micros=end - begin,
        )
    return stats.node_stats


def record(node, allocator, *records):
    used = node.memory.add(allocator_name=allocator)
    for time, size in records:
        used.allocation_records.add(alloc_micros=time, alloc_bytes=size)


def output(node, size, ptr=0):
    memory = node.output.add().tensor_description.allocation_description
    memory.requested_bytes, memory.ptr, memory.allocator_name = size, ptr, "cpu"


def test_peaks_and_their_owners():
    metadata = tf.RunMetadata()
    first, second = add_nodes(metadata, [("a", 0, 10, ()), ("b", 10, 20, ("a",))], "CPU")
    # The output lives until b has read it; 50 bytes are temporary.
    record(first, "cpu", (1, 50), (2, 100), (5, -50), (18, -100))
    record(second, "cpu", (11, 30))
    assert memory_peaks(metadata, {"CPU": 4}) == (Memory(4, 150, [Owner("a", 150)]),)
    metadata = tf.RunMetadata()
    nodes = [("gone", 0, 1, ()), ("small", 2, 3, ()), ("big", 4, 5, ())]
    gone, small, big = add_nodes(metadata, nodes, "CPU")
    record(gone, "cpu", (0, 90), (1, -90))
    record(small, "cpu", (2, 10))
    record(big, "cpu", (4, 100))
    (found,) = memory_peaks(metadata, {"CPU": 0})
    assert (found.peak, found.owners) == (110, [Owner("big", 100), Owner("small", 10)])
    metadata = tf.RunMetadata()
    (node,) = add_nodes(metadata, [("a", 0, 1, ())], "GPU")
    record(node, "GPU_0_bfc", (0, 100))
    record(node, "cpu", (0, 10))
    (node,) = add_nodes(metadata, [("b", 0, 1, ())], "CPU")
    record(node, "cpu", (0, 20))
    found = memory_peaks(metadata, {"CPU": 0, "GPU": 1})
    assert [(each.device, each.peak) for each in found] == [(0, 20), (1, 100)]
    metadata = tf.RunMetadata()
    add_nodes(metadata, [("a", 0, 1, ())], "CPU")
    assert memory_peaks(metadata, {"CPU": 0}) == ()


def test_outputs_stand_for_missing_records():
    metadata = tf.RunMetadata()
    nodes = [("a", 0, 1, ()), ("b", 2, 3, ("a",)), ("c", 4, 5, ())]
    for node, size in zip(add_nodes(metadata, nodes, "CPU"), (64, 32, 8), strict=True):
        output(node, size)
    (found,) = memory_peaks(metadata, {"CPU": 0})
    assert (found.peak, found.owners) == (96, [Owner("a", 64), Owner("b", 32)])
    metadata = tf.RunMetadata()
    nodes = [("a", 0, 1, ()), ("reshaped", 1, 2, ("a",)), ("later", 8, 9, ())]
    first, reshaped, later = add_nodes(metadata, nodes, "CPU")
    output(first, 64, ptr=7)
    output(reshaped, 64, ptr=7)
    output(later, 80, ptr=7)
    (found,) = memory_peaks(metadata, {"CPU": 0})
    assert found.peak == 80


def test_a_real_step_holds_the_tensors_of_its_products():
    with tf.Graph().as_default(), tf.Session() as session:
        left = tf.random_uniform([256, 256], name="left")
        product = tf.matmul(left, left, name="product")
        metadata = tf.RunMetadata()
        session.run(tf.reduce_sum(product), options=run_options(), run_metadata=metadata)
    names = {each.device for each in metadata.step_stats.dev_stats}
    (found,) = memory_peaks(metadata, dict.fromkeys(names, 0))
    matrix = 256 * 256 * 4
    assert 2 * matrix <= found.peak < 2.2 * matrix
    assert [owner.bytes >= matrix for owner in found.owners[:2]] == [True, True]
    assert "product" in {owner.node for owner in found.owners[:2]}
