import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_vision.reading.pipeline import shuffled

COUNT, BLOCK, EPOCHS = 22, 5, 8


def epochs(**options):
    """The stream `[epoch, position]` of the first epochs."""
    with tf.Graph().as_default(), tf.Session() as session:
        numbers = tf.range(EPOCHS * COUNT, dtype=tf.int64)
        return session.run(
            tf.map_fn(lambda number: shuffled(number, count=COUNT, **options), numbers)
        ).reshape(EPOCHS, COUNT)


def test_epochs_are_permutations_and_blocks_are_shuffled_within():
    for together in (None, BLOCK, COUNT):
        stream = epochs(seed=1, together=together)
        np.testing.assert_array_equal(np.sort(stream), np.tile(np.arange(COUNT), [EPOCHS, 1]))
        assert len(np.unique(stream, axis=0)) == EPOCHS
        np.testing.assert_array_equal(stream, epochs(seed=1, together=together))
        assert (stream != epochs(seed=2, together=together)).mean() > 0.5
    # Blocks come in another order and are shuffled within.
    stream = epochs(seed=1, together=BLOCK)
    whole = stream[:, : COUNT - COUNT % BLOCK].reshape(EPOCHS, -1, BLOCK)
    blocks = whole // BLOCK
    assert (blocks == blocks[..., :1]).all()
    assert len(np.unique(blocks[..., 0], axis=0)) > EPOCHS / 2
    # What is left behind the last whole block comes last.
    np.testing.assert_array_equal(stream[:, 20:] // BLOCK, np.full([EPOCHS, 2], 4))
    within = whole % BLOCK
    of_one_block = within[blocks[..., 0] == 0]
    assert len(np.unique(of_one_block, axis=0)) > EPOCHS / 2
    assert all(len(np.unique(epoch, axis=0)) > 1 for epoch in within)
    for together in (0, 1):
        expected = np.tile(np.arange(COUNT), [EPOCHS, 1])
        np.testing.assert_array_equal(epochs(seed=1, together=together), expected)
