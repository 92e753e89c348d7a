"""The feature columns of `tf.contrib.layers`, which are columns of `tf.feature_column` here.

    word = sparse_column_with_hash_bucket("word", 1000)
    net = input_from_feature_columns(features, [embedding_column(word, 8)])

Variables have the names of tf.contrib.layers: `input_from_feature_columns/word_embedding/weights`,
`weighted_sum_from_feature_columns/word/weights` and `bias_weight`; the columns of the input have
its order, so that checkpoints restore. Crossed columns hash as tf.feature_column does, which
tf.contrib.layers did only with `hash_key=SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

_columns = tf.feature_column
SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE

# The classes of tf.contrib.layers, by whose names it sorted columns.
_OLD_CLASSES = {
    "BucketizedColumn": "_BucketizedColumn",
    "CrossedColumn": "_CrossedColumn",
    "EmbeddingColumn": "_EmbeddingColumn",
    "HashedCategoricalColumn": "_SparseColumnHashed",
    "IdentityCategoricalColumn": "_SparseColumnIntegerized",
    "IndicatorColumn": "_OneHotColumn",
    "NumericColumn": "_RealValuedColumn",
    "VocabularyFileCategoricalColumn": "_SparseColumnVocabulary",
    "VocabularyListCategoricalColumn": "_SparseColumnKeys",
    "WeightedCategoricalColumn": "_WeightedSparseColumn",
    "_SharedEmbeddingColumn": "_EmbeddingColumn",
}


def real_valued_column(
    column_name: str,
    dimension: int | None = 1,
    default_value: Any = None,
    dtype: Any = tf.float32,
    normalizer: Callable[[Any], Any] | None = None,
) -> Any:
    """Returns a column of `dimension` numbers; a ValueError for None, a variable number."""
    if dimension is None:
        raise ValueError(
            f"column {column_name}: a real-valued column of variable length is not offered; pad "
            "the feature in the input function and give its dimension"
        )
    return _columns.numeric_column(column_name, (dimension,), default_value, dtype, normalizer)


def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: Any = tf.string,
    hash_keys: Any = None,
) -> Any:
    """Returns a column of strings or integers, hashed into buckets."""
    if hash_keys is not None:
        raise ValueError(f"column {column_name}: hash_keys is not offered")
    _check_sum(column_name, combiner)
    return _columns.categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtype)


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = tf.int64
) -> Any:
    """Returns a column of integers from 0 to `bucket_size - 1`."""
    del dtype
    _check_sum(column_name, combiner)
    return _columns.categorical_column_with_identity(column_name, bucket_size)


def sparse_column_with_keys(
    column_name: str,
    keys: Sequence[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = tf.string,
) -> Any:
    """Returns a column of the values in a list; others have the index `default_value`."""
    _check_sum(column_name, combiner)
    return _columns.categorical_column_with_vocabulary_list(
        column_name, list(keys), dtype, default_value
    )


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = tf.string,
) -> Any:
    """Returns a column of the values in a file, a line each."""
    _check_sum(column_name, combiner)
    return _columns.categorical_column_with_vocabulary_file(
        column_name,
        vocabulary_file,
        vocab_size,
        num_oov_buckets,
        None if num_oov_buckets else default_value,
        dtype,
    )


def weighted_sparse_column(
    sparse_id_column: Any, weight_column_name: str, dtype: Any = tf.float32
) -> Any:
    """Returns a sparse column whose values have the weights of another feature."""
    return _columns.weighted_categorical_column(sparse_id_column, weight_column_name, dtype)


def one_hot_column(sparse_id_column: Any) -> Any:
    """Returns a dense column with the number of occurrences of each value of a sparse column."""
    return _columns.indicator_column(sparse_id_column)


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """Returns a dense column: trained vectors `[dimension]` of the values of a sparse column."""
    return _columns.embedding_column(
        sparse_id_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )


def shared_embedding_columns(
    sparse_id_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[Any]:
    """Returns dense columns of several sparse columns, with one table of vectors."""
    columns: list[Any] = _columns.shared_embedding_columns(
        sparse_id_columns,
        dimension,
        combiner,
        initializer,
        shared_embedding_name,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )
    return columns


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> Any:
    """Returns a column with the bucket of a real-valued column."""
    return _columns.bucketized_column(source_column, list(boundaries))


def crossed_column(
    columns: Iterable[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """Returns a column of the combinations of sparse or bucketized columns, hashed.

    Raises:
      ValueError: weights from a checkpoint, or a combiner other than "sum".
    """
    if ckpt_to_load_from is not None or tensor_name_in_ckpt is not None:
        raise ValueError("crossed_column: ckpt_to_load_from is not offered; use warm starts")
    _check_sum("crossed_column", combiner)
    # tf.feature_column hashes such a feature once, together with the others.
    parts = [
        column.key if hasattr(column, "hash_bucket_size") and hasattr(column, "key") else column
        for column in columns
    ]
    return _columns.crossed_column(parts, hash_bucket_size, hash_key)


def create_feature_spec_for_parsing(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """Returns name -> feature to parse, for `tf.parse_example`."""
    spec: dict[str, Any] = _columns.make_parse_example_spec(feature_columns)
    return spec


def parse_feature_columns_from_examples(
    serialized: Any,
    feature_columns: Iterable[Any],
    name: str | None = None,
    example_names: Any = None,
) -> dict[str, Any]:
    """Returns name -> tensor of serialized examples `[batch]`."""
    spec = create_feature_spec_for_parsing(feature_columns)
    parsed: dict[str, Any] = tf.io.parse_example(serialized, spec, example_names, name)
    return parsed


def make_place_holder_tensors_for_base_features(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """Returns name -> placeholder `[batch, ...]` of the features of columns."""
    return {
        name: tf.placeholder(feature.dtype, [None, *feature.shape], name.replace(" ", "_"))
        if isinstance(feature, tf.io.FixedLenFeature)
        else tf.sparse_placeholder(feature.dtype)
        for name, feature in create_feature_spec_for_parsing(feature_columns).items()
    }


def infer_real_valued_columns(features: Any) -> list[Any]:
    """Returns real-valued columns of dense features; a ValueError for other ones."""
    named = features if isinstance(features, dict) else {"": features}
    columns = []
    for name, tensor in named.items():
        if isinstance(tensor, tf.SparseTensor) or not (
            tensor.dtype.is_integer or tensor.dtype.is_floating
        ):
            raise ValueError(f"feature {name!r} needs a feature column: {tensor}")
        columns.append(
            real_valued_column(name, tensor.shape[1:].num_elements(), dtype=tensor.dtype)
        )
    return columns


def check_feature_columns(feature_columns: Iterable[Any]) -> None:
    """Raises a ValueError for columns in a dictionary, and for a column that occurs twice."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    names = [column.name for column in feature_columns]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Duplicate feature column key found for column: {name}.")


def input_from_feature_columns(
    columns_to_tensors: Mapping[str, Any],
    feature_columns: Iterable[Any],
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Any:
    """Returns the input of a network, `[batch, sum of the columns' sizes]`.

    Args:
      columns_to_tensors: name -> tensor of the features.
      feature_columns: real-valued, bucketized, one-hot and embedding columns.
      weight_collections: collections of the embeddings, besides the model's variables.
      trainable: whether the embeddings are trained.
      scope: variable scope; None: `input_from_feature_columns`, made unique.
      cols_to_outs: gets column -> its part of the input.
    """
    columns = sorted(set(feature_columns), key=_old_key)
    check_feature_columns(columns)
    with tf.variable_scope(scope, "input_from_feature_columns", custom_getter=_renamed):
        outputs = {
            column: _columns.input_layer(
                dict(columns_to_tensors), [column], _collections(weight_collections), trainable
            )
            for column in columns
        }
        if cols_to_outs is not None:
            cols_to_outs.update(outputs)
        return tf.concat(list(outputs.values()), axis=1)


def weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[str, Any],
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, dict[Any, Any], Any]:
    """Returns a linear model of features.

    Args:
      columns_to_tensors, feature_columns, weight_collections, trainable: see
        `input_from_feature_columns`; the columns may be sparse.
      num_outputs: number of outputs.
      scope: variable scope; None: `weighted_sum_from_feature_columns`, made unique.

    Returns:
      The outputs `[batch, num_outputs]`; column -> list of its weights; the bias `[num_outputs]`.
    """
    columns = sorted(set(feature_columns), key=_old_key)
    check_feature_columns(columns)
    getter = functools.partial(
        _renamed, numeric=[column.name for column in columns if hasattr(column, "normalizer_fn")]
    )
    with tf.variable_scope(
        scope, "weighted_sum_from_feature_columns", custom_getter=getter
    ) as entered:
        outputs = _columns.linear_model(
            dict(columns_to_tensors),
            columns,
            num_outputs,
            weight_collections=_collections(weight_collections),
            trainable=trainable,
        )
    variables = {
        column: tf.global_variables(f"{re.escape(entered.name)}/{re.escape(column.name)}/")
        for column in columns
    }
    return outputs, variables, tf.global_variables(f"{re.escape(entered.name)}/bias_weight")[0]


def _renamed(
    getter: Callable[..., Any], name: str, *args: Any, numeric: Sequence[str] = (), **kwargs: Any
) -> Any:
    """Gets a variable of tf.feature_column under the name of tf.contrib.layers.

    The weights of real-valued columns, `numeric`, are called `weight`.
    """
    name = re.sub(r"/(input_layer|linear_model)(_\d+)?/", "/", name)
    name = re.sub(r"/(embedding_weights|weights)$", "/weights", name)
    one = name.endswith("/bias_weights") or name.split("/")[-2] in numeric
    return getter(name.removesuffix("s") if one else name, *args, **kwargs)


def _collections(names: Sequence[str] | None) -> list[str]:
    return [*(names or ()), tf.GraphKeys.MODEL_VARIABLES]


def _old_key(column: Any) -> str:
    """Returns a text that sorts columns as tf.contrib.layers did."""
    kind = type(column).__name__
    inner = getattr(column, "categorical_column", None)
    return f"{_OLD_CLASSES.get(kind, kind)}({_old_key(inner) if inner is not None else column.name}"


def _check_sum(column_name: str, combiner: str) -> None:
    if combiner != "sum":
        raise ValueError(
            f"column {column_name}: combiner={combiner!r} is not offered for sparse columns; "
            'only "sum" is. Embedding columns take every combiner.'
        )
