import collections

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame.runs.warm_start.settings import VocabInfo, WarmStartSettings

from .conftest import B, W, message, started, variable

# Values of new entries and buckets in the expected rows.
ZEROS, FIVES = [0.0, 0.0], [5.0, 5.0]


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("partitioner", slow_but(0, [None, tf.fixed_size_partitioner(2)]))
@pytest.mark.parametrize(
    ("new", "size", "buckets", "old", "options", "expected"),
    [
        ("d x a b", 4, 2, "a b c d", {}, [W[3], ZEROS, W[0], W[1], ZEROS, ZEROS]),
        # Only the first entries of a vocabulary count.
        ("d a b", 2, 0, "a b c d e", {"old_vocab_size": 3}, [ZEROS, W[0]]),
        (
            "x c a",
            3,
            1,
            "a b c d",
            {"backup_initializer": tf.constant_initializer(5.0)},
            [FIVES, W[2], W[0], FIVES],
        ),
    ],
)
def test_entries_take_their_rows_along_and_new_entries_and_buckets_get_initial_values(
    save, vocabulary, partitioner, new, size, buckets, old, options, expected
):
    folder = save(w=W)
    variable("w", np.shape(expected), partitioner=partitioner)
    files = vocabulary("new", *new.split()), size, buckets, vocabulary("old", *old.split())
    values = started(WarmStartSettings(folder, ".*", {"w": VocabInfo(*files, **options)}))
    rows = np.concatenate([values[name] for name in sorted(values) if name.startswith("w")])
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.usefixtures("variable_mode")
def test_axis_one_is_for_columns_and_a_vector_has_axis_zero(save, vocabulary):
    folder = save(w=W.T.copy(), b=np.float32([7, 8, 9, 10]))
    variable("w", [2, 3]), variable("b", [3])
    files = vocabulary("new", "d", "x", "a"), 3, 0, vocabulary("old", "a", "b", "c", "d")
    infos = {"w": VocabInfo(*files, axis=1), "b": VocabInfo(*files)}
    values = started(WarmStartSettings(folder, ".*", infos))
    np.testing.assert_array_equal(values["w"], np.stack([W[3], [0, 0], W[0]], axis=1))
    np.testing.assert_array_equal(values["b"], [10, 0, 7])


def test_none_means_only_variables_with_a_vocabulary_under_their_mapped_names(save, vocabulary):
    folder = save(old=W, b=B)
    variable("w", [4, 2]), variable("b", [3])
    files = vocabulary("new", "d", "c", "b", "a"), 4, 0, vocabulary("old_v", "a", "b", "c", "d")
    settings = WarmStartSettings(folder, None, {"w": VocabInfo(*files)}, {"w": "old"})
    values = started(settings)
    np.testing.assert_array_equal(values["w"], W[::-1])
    np.testing.assert_array_equal(values["b"], [-1, -1, -1])


def test_lines_may_end_in_the_way_of_another_system(save, vocabulary, tmp_path):
    folder = save(w=W)
    variable("w", [2, 2])
    (tmp_path / "dos").write_bytes(b"a\r\nb\r\nc\r\nd\r\n")
    info = VocabInfo(vocabulary("new", "d", "a"), 2, 0, str(tmp_path / "dos"))
    np.testing.assert_array_equal(
        started(WarmStartSettings(folder, ".*", {"w": info}))["w"], W[[3, 0]]
    )


Wrong = collections.namedtuple("Wrong", "new size oov old shape message")


@pytest.mark.parametrize(
    "wrong",
    [
        Wrong("a b", 3, 0, "a b c d", [3, 2], "has 2 entries, not 3"),
        Wrong("a b", 2, 0, "a b a d", [2, 2], "has the entry b'a' twice"),
        Wrong("a b", 2, -1, "a b c d", [1, 2], "num_oov_buckets must be >= 0, but received -1"),
        Wrong("a b", 2, 1, "a b c d", [2, 2], "new_vocab_size (2) + num_oov_buckets (1)"),
        Wrong("a b", 2, 0, "a b c d", [2, 3], "doesn't match with shape of tensor w ([4, 2])"),
        Wrong("a e", 2, 0, "a b c d e", [2, 2], "does not belong to w, which has 4 entries"),
        Wrong("a b", 0, 0, "a b c d", [2, 2], "Invalid args: Must provide all of "),
    ],
)
def test_a_vocabulary_that_does_not_fit_is_refused(save, vocabulary, wrong):
    variable("w", wrong.shape)
    files = vocabulary("new", *wrong.new.split()), vocabulary("old", *wrong.old.split())
    info = VocabInfo(files[0], wrong.size, wrong.oov, files[1])
    assert wrong.message in message(WarmStartSettings(save(w=W), ".*", {"w": info}))


def test_an_axis_beyond_the_second_is_refused():
    with pytest.raises(ValueError, match="only supported values for the axis argument"):
        VocabInfo("new", 1, 0, "old", axis=2)
