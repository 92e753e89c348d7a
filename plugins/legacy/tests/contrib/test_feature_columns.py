import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame_legacy.contrib import feature_columns as fc
from tf_frame_legacy.contrib.layers import bow_encoder


@pytest.fixture
def columns():
    word = fc.sparse_column_with_keys("word", ["a", "b"])
    hashed = fc.sparse_column_with_hash_bucket("hashed", 7)
    buckets = fc.bucketized_column(fc.real_valued_column("y"), [0.0, 1.0])
    return {
        "x": fc.real_valued_column("x", 2, normalizer=lambda x: x * 10),
        "word": word,
        "hashed": hashed,
        "buckets": buckets,
        "crossed": fc.crossed_column([word, hashed, buckets], 11),
    }


FEATURES = {
    "x": [[1.0, 2.0], [3.0, 4.0]],
    "y": [[0.5], [2.0]],
    "word": [["a"], ["z"]],
    "hashed": [["p"], ["q"]],
}


def tensors():
    return {name: tf.constant(value) for name, value in FEATURES.items()}


def values(fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(fetches)


def names(variables):
    return {variable.op.name: variable.shape.as_list() for variable in variables}


def test_input_has_names_and_order_of_then(graph, columns):
    outputs = {}
    chosen = [
        columns["x"],
        fc.one_hot_column(columns["word"]),
        fc.embedding_column(columns["hashed"], 4),
        fc.embedding_column(columns["crossed"], 3),
        columns["buckets"],
    ]
    net = fc.input_from_feature_columns(tensors(), chosen, cols_to_outs=outputs)
    scope = "input_from_feature_columns"
    assert (
        names(tf.get_collection(tf.GraphKeys.MODEL_VARIABLES))
        == {
            f"{scope}/hashed_embedding/weights": [7, 4],
            f"{scope}/hashed_X_word_X_y_bucketized_embedding/weights": [11, 3],
        }
        or set(names(tf.global_variables())) == set()
    )
    # tf.contrib.layers sorted by the names of its classes: _Bucketized, _Embedding, _OneHot, _Real.
    assert [list(outputs).index(column) for column in chosen] == [4, 3, 2, 1, 0]
    rows, vectors = values([net, outputs[chosen[2]]])
    assert rows.shape == (2, 3 + 3 + 4 + 2 + 2)
    np.testing.assert_array_equal(rows[:, :3], [[0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(rows[:, -4:], [[1, 0, 10, 20], [0, 0, 30, 40]])
    assert vectors.shape == (2, 4)


def test_weighted_sum(graph, columns):
    outputs, variables, bias = fc.weighted_sum_from_feature_columns(
        tensors(), [columns["x"], columns["word"], columns["buckets"]], 2, scope="linear"
    )
    assert names(tf.global_variables()) == {
        "linear/x/weight": [2, 2],
        "linear/word/weights": [2, 2],
        "linear/y_bucketized/weights": [3, 2],
        "linear/bias_weight": [2],
    }
    load = [
        tf.assign(v, tf.ones(v.shape) * number)
        for v, number in zip(
            [variables[columns[name]][0] for name in ("x", "word", "buckets")] + [bias],
            (1.0, 100.0, 1000.0, 0.5),
            strict=True,
        )
    ]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(load)
        # x is multiplied by 10; "z" is in no vocabulary.
        rows = session.run(outputs)
    np.testing.assert_allclose(rows, [[1130.5] * 2, [1070.5] * 2])


def test_parsing_and_placeholders(graph, columns):
    chosen = [columns["x"], columns["crossed"]]
    spec = fc.create_feature_spec_for_parsing(chosen)
    assert spec["x"] == tf.io.FixedLenFeature((2,), tf.float32)
    assert set(spec) == {"x", "word", "hashed", "y"}
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend([1.0, 2.0])
    example.features.feature["y"].float_list.value.append(3.0)
    example.features.feature["word"].bytes_list.value.append(b"b")
    parsed = fc.parse_feature_columns_from_examples([example.SerializeToString()], chosen)
    assert values(parsed["word"].values).tolist() == [b"b"]
    placeholders = fc.make_place_holder_tensors_for_base_features(chosen)
    assert placeholders["x"].shape.as_list() == [None, 2]
    assert isinstance(placeholders["word"], tf.SparseTensor)
    assert fc.infer_real_valued_columns({"x": tf.zeros([4, 2, 3])})[0].shape == (6,)


def test_refusals(graph, columns):
    assert refusal(fc.real_valued_column, "x", None)
    assert "sum" in refusal(fc.sparse_column_with_keys, "w", ["a"], combiner="mean")[1]
    assert "Duplicate" in refusal(fc.check_feature_columns, [columns["x"]] * 2)[1]
    assert refusal(fc.check_feature_columns, columns)
    assert refusal(fc.infer_real_valued_columns, tf.constant(["a"]))


def test_bow_encoder(graph):
    ids = np.array([[1, 2, 0], [2, 0, 0]])
    start = tf.constant_initializer(np.arange(6.0).reshape(3, 2))
    sparse = bow_encoder(ids, 3, 2, initializer=start, scope="bow")
    dense = bow_encoder(ids, 3, 2, sparse_lookup=False, scope="bow", reuse=True)
    assert list(names(tf.global_variables())) == ["bow/embeddings"]
    with_padding, without = values([dense, sparse])
    np.testing.assert_allclose(without, [[3, 4], [4, 5]])
    np.testing.assert_allclose(with_padding, [[2, 3], [4 / 3, 7 / 3]], rtol=1e-6)
