import tensorflow.compat.v1 as tf

from tf_frame.graph.inputs.streams import (
    dataset_batches,
    function_batches,
    iterator_initializers,
    streams_without_position,
)


def test_data_sets_note_initialisers_and_functions_the_missing_position():
    with tf.Graph().as_default():
        for _ in range(2):
            dataset_batches(tf.data.Dataset.range(3).map(lambda n: (n, n)), 2)
        initializers = iterator_initializers()
        assert [op.type for op in initializers] == ["MakeIterator"] * 2
        assert [op.inputs[1].op.type for op in initializers] == ["IteratorV2"] * 2
        assert initializers == tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)
        assert streams_without_position() == []
    with tf.Graph().as_default():
        function_batches(lambda: (tf.zeros([1]), tf.zeros([1])), 1, origin="Mine.dataset()")
        (reason,) = streams_without_position()
        assert reason.startswith("Mine.dataset() returned no data set")
        assert iterator_initializers() == []
