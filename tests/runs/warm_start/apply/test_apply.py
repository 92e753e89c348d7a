import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError
from tf_frame.graph.update.moving_averages import moving_averages
from tf_frame.runs.warm_start.apply import add_warm_start
from tf_frame.runs.warm_start.settings import VocabInfo, WarmStartSettings, as_settings

from .conftest import B, W, message, started, variable


def test_settings_have_the_old_defaults_order_and_attributes():
    settings = WarmStartSettings("/some/model.ckpt")
    assert settings == ("/some/model.ckpt", ".*", {}, {})
    given = WarmStartSettings("a", ["b"], {"c": 1}, {"d": "e"})
    assert given.ckpt_to_initialize_from == "a"
    assert given.vars_to_warm_start == ["b"]
    assert given.var_name_to_vocab_info == {"c": 1}
    assert given.var_name_to_prev_var_name == {"d": "e"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WarmStartSettings(""), "`ckpt_to_initialize_from` MUST be set"),
        (lambda: WarmStartSettings(None), "`ckpt_to_initialize_from` MUST be set"),
        (lambda: as_settings(3), "WarmStartSettings, instead got <class 'int'>"),
    ],
)
def test_wrong_arguments_of_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_path_means_all_trainable_variables(tmp_path):
    assert as_settings(None) is None
    assert as_settings("/a") == as_settings(b"/a") == WarmStartSettings("/a")
    assert as_settings(tmp_path) == WarmStartSettings(str(tmp_path))
    settings = WarmStartSettings("/a", None)
    assert as_settings(settings) is settings


def other_variables():
    return tf.global_variables("other")


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(
    ("chosen", "names"),
    slow_but(
        (0, 3),
        [
            (None, {"a/w", "other"}),
            # An expression matches the beginning of a trainable name; a list, any name.
            ("a", {"a/w"}),
            ("ther", set()),
            (["a/", ".*mean", "global_step"], {"a/w", "a/mean", "global_step"}),
            (other_variables, {"other"}),
        ],
        several=True,
    ),
)
def test_a_path_alone_an_expression_and_a_list_choose_variables(save, chosen, names):
    saved, lines = {"a/w": W, "a/mean": B, "other": B, "global_step": 5}, []
    folder = save(a__w=W, a__mean=B, other=B)
    tf.train.get_or_create_global_step()
    variable("a/w", [4, 2]), variable("a/mean", [3], trainable=False), variable("other", [3])
    chosen = chosen() if callable(chosen) else chosen
    values = started(WarmStartSettings(folder, chosen) if chosen else folder, lines=lines)
    initial = {**dict.fromkeys(saved, -1), "global_step": 0}
    assert values.keys() == saved.keys()
    for name, value in values.items():
        np.testing.assert_array_equal(value, (saved if name in names else initial)[name])
    assert f"{len(names)} of {len(names)} variables restored" in lines[0]


@pytest.mark.usefixtures("variable_mode")
def test_a_partitioned_variable_is_set_whole(save):
    folder = save(w=W)
    variable("w", [4, 2], partitioner=tf.fixed_size_partitioner(3))
    values = started(folder)
    parts = [values[f"w/part_{i}"] for i in range(3)]
    np.testing.assert_array_equal(np.concatenate(parts), W)


def test_names_are_mapped_also_two_to_one_source_and_with_signs_of_expressions(save):
    folder = save(old__w=W, b=B)
    for name in ("a.b/w", "c/w"):
        variable(name, [4, 2])
    variable("b", [3])
    values = started(WarmStartSettings(folder, ".*", None, {"a.b/w": "old/w", "c/w": "old/w"}))
    np.testing.assert_array_equal(values["a.b/w"], W)
    np.testing.assert_array_equal(values["c/w"], W)
    np.testing.assert_array_equal(values["b"], B)


def test_a_file_of_a_checkpoint_and_a_saved_model_may_be_given(save, tmp_path):
    folder = save(w=W)
    variable("w", [4, 2])
    np.testing.assert_array_equal(started(f"{folder}/model.ckpt-5")["w"], W)
    export = tmp_path / "export" / "variables"
    export.mkdir(parents=True)
    for file in (tmp_path / "old").glob("model.ckpt-5.[di]*"):
        file.rename(export / file.name.replace("model.ckpt-5", "variables"))
    np.testing.assert_array_equal(started(str(tmp_path / "export"))["w"], W)


def test_a_damaged_checkpoint_is_refused(save):
    folder = save(w=W)
    variable("w", [4, 2])
    with open(f"{folder}/model.ckpt-5.data-00000-of-00001", "r+b") as file:
        file.truncate(8)
    assert "model.ckpt-5" in message(f"{folder}/model.ckpt-5", CheckpointError)


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


_UNUSED = (
    "You provided the following variables in {} that were not used: {{'v'}}.  Perhaps you "
    "misspelled them?  Here is the list of viable variable names: ['w']"
)


@pytest.mark.parametrize(
    ("arguments", "shape", "dtype", "text"),
    [
        ([3], [4, 2], tf.float32, "must be a `list` or `str`.  Given type is <class 'int'>"),
        (
            [["w", 3]],
            [4, 2],
            tf.float32,
            "all `Variable` or all `str`.  Given types are [<class 'str'>, <class 'int'>]",
        ),
        ([".*", None, {"v": "w"}], [4, 2], tf.float32, _UNUSED.format("var_name_to_prev_var_name")),
        ([".*", {"v": None}], [4, 2], tf.float32, _UNUSED.format("var_name_to_vocab_info")),
        (
            [".*", None, {"w": "u"}],
            [4, 2],
            tf.float32,
            "Tensor u is not found in {}/model.ckpt-5 checkpoint {{'global_step': [], 'w':",
        ),
        (
            [],
            [4, 3],
            tf.float32,
            "variable w:0 ((4, 3)) doesn't match with shape of tensor w ([4, 2]) from checkpoint",
        ),
        ([], [4, 2], tf.float64, "w:0 (float64) doesn't match with type of tensor w (float32)"),
    ],
)
def test_settings_that_do_not_fit_are_refused(save, arguments, shape, dtype, text):
    folder = save(w=W)
    variable("w", shape, dtype=dtype)
    expected = text.format(folder) if "{}" in text else text
    assert expected in message(WarmStartSettings(folder, *arguments))


def test_a_variable_or_a_checkpoint_that_is_missing_is_refused(save, tmp_path):
    variable("v", [4, 2])
    assert message(save(w=W)).startswith("Tensor v is not found in ")
    assert message(str(tmp_path / "no"), tf.errors.NotFoundError).startswith(
        "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
        f"{tmp_path / 'no'}"
    )
    assert message(str(tmp_path)).startswith(
        f"Couldn't find 'checkpoint' file or checkpoints in given directory {tmp_path}"
    )
