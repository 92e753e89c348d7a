import collections

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError
from tf_frame.graph.update.moving_averages import moving_averages
from tf_frame.runs.warm_start.apply import add_warm_start
from tf_frame.runs.warm_start.settings import VocabInfo, WarmStartSettings, as_settings

W = np.arange(8, dtype=np.float32).reshape(4, 2)
B = np.array([7.0, 8.0, 9.0], np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def save(tmp_path):
    """Saves variables, and `global_step` 5, into `tmp_path / "old"`; returns that folder."""

    def save(**values):
        with tf.Graph().as_default(), tf.Session() as session:
            for name, value in {"global_step": np.int64(5), **values}.items():
                tf.get_variable(name.replace("__", "/"), initializer=value)
            session.run(tf.global_variables_initializer())
            tf.train.Saver().save(session, str(tmp_path / "old" / "model.ckpt"), global_step=5)
        return str(tmp_path / "old")

    return save


@pytest.fixture
def vocabulary(tmp_path):
    def write(name, *entries):
        file = tmp_path / f"{name}.txt"
        file.write_text("".join(f"{entry}\n" for entry in entries))
        return str(file)

    return write


def variable(name, shape, value=-1.0, **more):
    return tf.get_variable(name, shape, initializer=tf.constant_initializer(value), **more)


def started(settings, *, own=None, lines=None):
    """Values of all variables by name, as a session of a scaffold has them at first."""
    report = [].append if lines is None else lines.append
    scaffold = add_warm_start(None, as_settings(settings), own, report=report)
    creator = tf.train.ChiefSessionCreator(scaffold)
    with tf.train.MonitoredSession(creator) as session:
        return {v.op.name: session.run(v) for v in tf.global_variables()}


def message(settings, kind=ValueError):
    with pytest.raises(kind) as caught:
        add_warm_start(None, as_settings(settings), None, report=print)
    return str(caught.value)


# Settings


def test_settings_have_the_old_defaults_order_and_attributes():
    settings = WarmStartSettings("/some/model.ckpt")
    assert settings == ("/some/model.ckpt", ".*", {}, {})
    given = WarmStartSettings("a", ["b"], {"c": 1}, {"d": "e"})
    assert given.ckpt_to_initialize_from == "a"
    assert given.vars_to_warm_start == ["b"]
    assert given.var_name_to_vocab_info == {"c": 1}
    assert given.var_name_to_prev_var_name == {"d": "e"}


@pytest.mark.parametrize("nothing", ["", None])
def test_settings_without_a_checkpoint_are_refused(nothing):
    with pytest.raises(ValueError) as caught:
        WarmStartSettings(nothing)
    assert str(caught.value) == "`ckpt_to_initialize_from` MUST be set in WarmStartSettings"


def test_a_path_means_all_trainable_variables(tmp_path):
    assert as_settings(None) is None
    assert as_settings("/a") == as_settings(b"/a") == WarmStartSettings("/a")
    assert as_settings(tmp_path) == WarmStartSettings(str(tmp_path))
    settings = WarmStartSettings("/a", None)
    assert as_settings(settings) is settings


def test_what_is_neither_a_path_nor_settings_is_refused():
    with pytest.raises(ValueError) as caught:
        as_settings(3)
    assert str(caught.value) == (
        "warm_start_from must be a string or a WarmStartSettings, instead got <class 'int'>"
    )


# Which variables


@pytest.mark.usefixtures("variable_mode")
def test_a_path_sets_trainable_variables_and_no_others(save):
    folder = save(w=W, mean=B)
    tf.train.get_or_create_global_step()
    variable("w", [4, 2]), variable("mean", [3], trainable=False)
    values = started(folder)
    np.testing.assert_array_equal(values["w"], W)
    np.testing.assert_array_equal(values["mean"], [-1, -1, -1])
    assert values["global_step"] == 0


def test_a_regular_expression_must_match_the_beginning_of_a_trainable_name(save):
    folder = save(a__w=W, b__a=B, a__mean=B)
    variable("a/w", [4, 2]), variable("b/a", [3]), variable("a/mean", [3], trainable=False)
    values = started(WarmStartSettings(folder, "a"))
    np.testing.assert_array_equal(values["a/w"], W)
    assert values["b/a"].tolist() == values["a/mean"].tolist() == [-1, -1, -1]


def test_a_list_of_regular_expressions_considers_all_variables_and_the_step(save):
    folder = save(a__w=W, a__mean=B, other=B)
    tf.train.get_or_create_global_step()
    variable("a/w", [4, 2]), variable("a/mean", [3], trainable=False), variable("other", [3])
    values = started(WarmStartSettings(folder, ["a/", ".*mean", "global_step"]))
    np.testing.assert_array_equal(values["a/w"], W)
    np.testing.assert_array_equal(values["a/mean"], B)
    np.testing.assert_array_equal(values["other"], [-1, -1, -1])
    assert values["global_step"] == 5


def test_a_list_of_variables_sets_these(save):
    folder = save(w=W, b=B)
    variable("w", [4, 2])
    values = started(WarmStartSettings(folder, [variable("b", [3])]))
    np.testing.assert_array_equal(values["w"], np.full([4, 2], -1))
    np.testing.assert_array_equal(values["b"], B)


def test_an_expression_that_matches_nothing_sets_nothing_and_says_so(save):
    variable("w", [4, 2])
    lines = []
    values = started(WarmStartSettings(save(w=W), "v"), lines=lines)
    np.testing.assert_array_equal(values["w"], np.full([4, 2], -1))
    assert "0 of 0 variables restored" in lines[0]


def test_the_wrong_type_of_vars_to_warm_start_is_refused(save):
    folder = save(w=W)
    assert message(WarmStartSettings(folder, 3)) == (
        "`vars_to_warm_start must be a `list` or `str`.  Given type is <class 'int'>"
    )
    assert message(WarmStartSettings(folder, ["w", 3])) == (
        "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types "
        "are [<class 'str'>, <class 'int'>]"
    )


@pytest.mark.usefixtures("variable_mode")
def test_a_partitioned_variable_is_set_whole(save):
    folder = save(w=W)
    variable("w", [4, 2], partitioner=tf.fixed_size_partitioner(3))
    values = started(folder)
    parts = [values[f"w/part_{i}"] for i in range(3)]
    np.testing.assert_array_equal(np.concatenate(parts), W)


# Names


def test_names_are_mapped_also_two_to_one_source_and_with_signs_of_expressions(save):
    folder = save(old__w=W, b=B)
    for name in ("a.b/w", "c/w"):
        variable(name, [4, 2])
    variable("b", [3])
    values = started(WarmStartSettings(folder, ".*", None, {"a.b/w": "old/w", "c/w": "old/w"}))
    np.testing.assert_array_equal(values["a.b/w"], W)
    np.testing.assert_array_equal(values["c/w"], W)
    np.testing.assert_array_equal(values["b"], B)


def test_a_mapped_name_that_is_not_warm_started_is_refused(save):
    variable("w", [4, 2]), variable("b", [3])
    settings = WarmStartSettings(save(w=W), "w", None, {"v": "w"})
    assert message(settings) == (
        "You provided the following variables in var_name_to_prev_var_name that were not used: "
        "{'v'}.  Perhaps you misspelled them?  Here is the list of viable variable names: ['w']"
    )


def test_a_vocabulary_of_what_is_not_warm_started_is_refused(save, vocabulary):
    variable("w", [4, 2])
    info = VocabInfo(vocabulary("new", "a"), 1, 0, vocabulary("old", "a"))
    assert message(WarmStartSettings(save(w=W), ".*", {"v": info})) == (
        "You provided the following variables in var_name_to_vocab_info that were not used: "
        "{'v'}.  Perhaps you misspelled them?  Here is the list of viable variable names: ['w']"
    )


# Which checkpoint


def test_a_file_of_a_checkpoint_and_a_saved_model_may_be_given(save, tmp_path):
    folder = save(w=W)
    variable("w", [4, 2])
    np.testing.assert_array_equal(started(f"{folder}/model.ckpt-5")["w"], W)
    export = tmp_path / "export" / "variables"
    export.mkdir(parents=True)
    for file in (tmp_path / "old").glob("model.ckpt-5.[di]*"):
        file.rename(export / file.name.replace("model.ckpt-5", "variables"))
    np.testing.assert_array_equal(started(str(tmp_path / "export"))["w"], W)


def test_a_path_without_a_checkpoint_is_refused_in_the_old_words(tmp_path):
    assert message(str(tmp_path / "no"), tf.errors.NotFoundError).startswith(
        "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
        f"{tmp_path / 'no'}"
    )
    assert message(str(tmp_path)).startswith(
        f"Couldn't find 'checkpoint' file or checkpoints in given directory {tmp_path}"
    )


def test_a_damaged_checkpoint_is_refused(save):
    folder = save(w=W)
    variable("w", [4, 2])
    with open(f"{folder}/model.ckpt-5.data-00000-of-00001", "r+b") as file:
        file.truncate(8)
    assert "model.ckpt-5" in message(f"{folder}/model.ckpt-5", CheckpointError)


def test_a_variable_that_the_checkpoint_lacks_is_refused(save):
    folder = save(w=W)
    variable("v", [4, 2])
    assert message(folder).startswith(
        f"Tensor v is not found in {folder}/model.ckpt-5 checkpoint {{'global_step': [], 'w': "
        "[4, 2]}"
    )
    renamed = WarmStartSettings(folder, ".*", None, {"v": "u"})
    assert message(renamed).startswith("Tensor u is not found in ")


def test_another_shape_is_refused(save):
    variable("w", [4, 3])
    assert message(save(w=W)) == (
        "Shape of variable w:0 ((4, 3)) doesn't match with shape of tensor w ([4, 2]) from "
        "checkpoint reader."
    )


def test_another_type_is_refused(save):
    variable("w", [4, 2], dtype=tf.float64)
    assert message(save(w=W)) == (
        "Type of variable w:0 (float64) doesn't match with type of tensor w (float32) from "
        "checkpoint reader."
    )


# When


def test_a_model_with_a_checkpoint_of_its_own_goes_on_from_that(save):
    variable("w", [4, 2])
    lines = []
    values = started(save(w=W), own="/models/model.ckpt-7", lines=lines)
    np.testing.assert_array_equal(values["w"], np.full([4, 2], -1))
    assert len(lines) == 1 and "/models/model.ckpt-7" in lines[0]


def test_the_init_fn_of_a_scaffold_comes_after_the_warm_start(save):
    v = variable("w", [4, 2])
    folder, double = save(w=W), v.assign(2 * v)
    scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: session.run(double))
    scaffold = add_warm_start(scaffold, as_settings(folder), None, report=print)
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold)) as session:
        np.testing.assert_array_equal(session.run(v), 2 * W)


@pytest.mark.usefixtures("variable_mode")
def test_moving_averages_begin_with_the_values(save, vocabulary):
    folder = save(w=W, b=B)
    variable("w", [4, 2]), variable("b", [3])
    moving_averages(RunOptions(moving_average_decay=0.5), tf.train.create_global_step()).apply()
    files = vocabulary("new", "b", "a", "c"), 3, 0, vocabulary("old", "a", "b", "c")
    values = started(WarmStartSettings(folder, ".*", {"b": VocabInfo(*files)}))
    np.testing.assert_array_equal(values["w/ExponentialMovingAverage"], W)
    np.testing.assert_array_equal(values["b/ExponentialMovingAverage"], B[[1, 0, 2]])


def test_the_report_names_every_variable(save, vocabulary):
    folder = save(w=W, b=B)
    variable("net/w", [4, 2]), variable("b", [4])
    files = vocabulary("new", "b", "x", "c"), 3, 1, vocabulary("old", "a", "b", "c")
    lines = []
    settings = WarmStartSettings(folder, ".*", {"b": VocabInfo(*files)}, {"net/w": "w"})
    add_warm_start(None, settings, None, report=lines.append)
    assert [line.split()[:2] for line in lines[0].splitlines()] == [
        ["warm", "start"],
        ["OUTCOME", "VARIABLE"],
        ["restored", "net/w"],
        ["warm", "start"],
        ["by", "vocabulary"],
    ]
    assert "b [4]: 2 of 4 entries from b [3], the others zero" in lines[0]


# Vocabularies


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
