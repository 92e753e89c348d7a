import collections

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.runs.warm_start.settings import VocabInfo, WarmStartSettings

from .conftest import B, W, message, started, variable


@pytest.mark.usefixtures("variable_mode")
def test_entries_take_their_rows_along_and_new_ones_and_buckets_are_zero(save, vocabulary):
    folder = save(w=W)
    variable("w", [6, 2])
    files = vocabulary("new", "d", "x", "a", "b"), 4, 2, vocabulary("old", "a", "b", "c", "d")
    values = started(WarmStartSettings(folder, ".*", {"w": VocabInfo(*files)}))
    np.testing.assert_array_equal(values["w"], [W[3], [0, 0], W[0], W[1], [0, 0], [0, 0]])


@pytest.mark.usefixtures("variable_mode")
def test_the_backup_initializer_is_for_new_entries_and_buckets(save, vocabulary):
    folder = save(w=W)
    variable("w", [4, 2])
    files = vocabulary("new", "x", "c", "a"), 3, 1, vocabulary("old", "a", "b", "c", "d")
    info = VocabInfo(*files, backup_initializer=tf.constant_initializer(5.0))
    values = started(WarmStartSettings(folder, ".*", {"w": info}))
    np.testing.assert_array_equal(values["w"], [[5, 5], W[2], W[0], [5, 5]])


@pytest.mark.usefixtures("variable_mode")
def test_axis_one_is_for_columns_and_a_vector_has_axis_zero(save, vocabulary):
    folder = save(w=W.T.copy(), b=np.float32([7, 8, 9, 10]))
    variable("w", [2, 3]), variable("b", [3])
    files = vocabulary("new", "d", "x", "a"), 3, 0, vocabulary("old", "a", "b", "c", "d")
    infos = {"w": VocabInfo(*files, axis=1), "b": VocabInfo(*files)}
    values = started(WarmStartSettings(folder, ".*", infos))
    np.testing.assert_array_equal(values["w"], np.stack([W[3], [0, 0], W[0]], axis=1))
    np.testing.assert_array_equal(values["b"], [10, 0, 7])


def test_only_the_first_entries_of_a_vocabulary_count(save, vocabulary):
    folder = save(w=W)
    variable("w", [2, 2])
    files = vocabulary("new", "d", "a", "b"), 2, 0, vocabulary("old", "a", "b", "c", "d", "e")
    values = started(WarmStartSettings(folder, ".*", {"w": VocabInfo(*files, old_vocab_size=3)}))
    np.testing.assert_array_equal(values["w"], [[0, 0], W[0]])


def test_none_means_only_variables_with_a_vocabulary_under_their_mapped_names(save, vocabulary):
    folder = save(old=W, b=B)
    variable("w", [4, 2]), variable("b", [3])
    files = vocabulary("new", "d", "c", "b", "a"), 4, 0, vocabulary("old_v", "a", "b", "c", "d")
    settings = WarmStartSettings(folder, None, {"w": VocabInfo(*files)}, {"w": "old"})
    values = started(settings)
    np.testing.assert_array_equal(values["w"], W[::-1])
    np.testing.assert_array_equal(values["b"], [-1, -1, -1])


@pytest.mark.usefixtures("variable_mode")
def test_a_partitioned_variable_is_set_by_its_vocabulary(save, vocabulary):
    folder = save(w=W)
    variable("w", [5, 2], partitioner=tf.fixed_size_partitioner(2))
    files = vocabulary("new", "x", "d", "a", "b"), 4, 1, vocabulary("old", "a", "b", "c", "d")
    values = started(WarmStartSettings(folder, ".*", {"w": VocabInfo(*files)}))
    whole = np.concatenate([values["w/part_0"], values["w/part_1"]])
    np.testing.assert_array_equal(whole, [[0, 0], W[3], W[0], W[1], [0, 0]])


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
