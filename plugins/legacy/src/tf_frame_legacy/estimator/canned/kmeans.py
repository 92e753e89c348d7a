"""`KMeansClustering`: an Estimator that finds clusters of points."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.ops import clustering_ops

from tf_frame.estimator import EstimatorSpec
from tf_frame_legacy.estimator.estimator import Estimator
from tf_frame_legacy.estimator.export import PredictOutput

_SECS_BETWEEN_LOOKS = 1.0


class KMeansClustering(Estimator):
    """Finds the centers of clusters; `tf.estimator.experimental.KMeans` is the same.

    Args:
      num_clusters: number of centers.
      model_dir, config: see `Estimator`.
      initial_clusters: `RANDOM_INIT`, `KMEANS_PLUS_PLUS_INIT`, the centers, or a function of inputs
        and a number that returns so many centers or fewer.
      distance_metric: `SQUARED_EUCLIDEAN_DISTANCE` or `COSINE_DISTANCE`.
      seed, random_seed: the seed of the initial centers.
      use_mini_batch: whether a step reads a batch; otherwise it reads all points.
      mini_batch_steps_per_iteration: steps after which the centers take their new values.
      kmeans_plus_plus_num_retries: further points that k-means++ looks at for each center.
      relative_tolerance: change of the loss from a step to the next that ends the training.
      feature_columns: columns of the features; default: all features, by name.

    Raises:
      ValueError: `initial_clusters` or `distance_metric` is unknown.
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering_ops.COSINE_DISTANCE
    RANDOM_INIT = clustering_ops.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering_ops.KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = clustering_ops.CLUSTERS_VAR_NAME

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
        feature_columns: Any = None,
        seed: int | None = None,
    ) -> None:
        ways = (self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT)
        if isinstance(initial_clusters, str) and initial_clusters not in ways:
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (self.SQUARED_EUCLIDEAN_DISTANCE, self.COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        make_kmeans = functools.partial(
            clustering_ops.KMeans,
            num_clusters=num_clusters,
            initial_clusters=initial_clusters,
            distance_metric=distance_metric,
            use_mini_batch=use_mini_batch,
            mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
            random_seed=random_seed if seed is None else seed,
            kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
        )
        model_fn = functools.partial(
            kmeans_model_fn,
            make_kmeans=make_kmeans,
            feature_columns=feature_columns,
            relative_tolerance=relative_tolerance,
        )
        super().__init__(model_fn, model_dir, config)

    def predict_cluster_index(self, input_fn: Any) -> Iterator[Any]:
        """Yields the index of the closest center of each point."""
        for result in self.predict(input_fn, predict_keys=[self.CLUSTER_INDEX]):
            yield result[self.CLUSTER_INDEX]

    def transform(self, input_fn: Any) -> Iterator[Any]:
        """Yields the distances of each point to all centers; squared, if Euclidean."""
        for result in self.predict(input_fn, predict_keys=[self.ALL_DISTANCES]):
            yield result[self.ALL_DISTANCES]

    def score(self, input_fn: Any) -> Any:
        """Returns the sum of the distances of the points in the first batch to their centers."""
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def cluster_centers(self) -> Any:
        """Returns the centers, `[num_clusters, features]`."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


def kmeans_model_fn(
    features: Any,
    mode: str,
    config: Any,
    make_kmeans: Callable[[Any], Any],
    feature_columns: Any = None,
    relative_tolerance: float | None = None,
) -> EstimatorSpec:
    """The model function of `KMeansClustering`; see there."""
    graph = make_kmeans(_points(features, feature_columns)).training_graph()
    (distances,), (index,), losses, is_initialized, choose, train = graph
    loss = tf.reduce_sum(losses)
    tf.summary.scalar("loss/raw", loss)
    step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    with tf.control_dependencies([train, step]):
        train_op = tf.identity(loss)
    hooks: list[Any] = [_ChooseCenters(choose, is_initialized, config.is_chief)]
    if relative_tolerance is not None:
        hooks.append(_StopIfUnchanged(loss, relative_tolerance))
    return EstimatorSpec(
        mode,
        predictions={
            KMeansClustering.ALL_DISTANCES: distances,
            KMeansClustering.CLUSTER_INDEX: index,
        },
        loss=loss,
        train_op=train_op,
        eval_metric_ops={KMeansClustering.SCORE: tf.metrics.mean(loss)},
        training_hooks=hooks,
        export_outputs={
            KMeansClustering.ALL_DISTANCES: PredictOutput(distances),
            KMeansClustering.CLUSTER_INDEX: PredictOutput(index),
            "serving_default": PredictOutput(index),
        },
    )


def _points(features: Any, feature_columns: Any) -> Any:
    """Returns the points `[points, features]`."""
    if not isinstance(features, dict):
        return features
    if feature_columns:
        return tf.feature_column.input_layer(features, feature_columns)
    return tf.concat([features[name] for name in sorted(features)], axis=1)


class _ChooseCenters(tf.train.SessionRunHook):
    """Chooses centers until there are enough; other tasks wait for the chief to do so."""

    def __init__(self, choose: Any, is_initialized: Any, is_chief: bool) -> None:
        self._choose, self._is_initialized, self._is_chief = choose, is_initialized, is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        del coord
        while not session.run(self._is_initialized):
            if self._is_chief:
                session.run(self._choose)
            else:
                time.sleep(_SECS_BETWEEN_LOOKS)


class _StopIfUnchanged(tf.train.SessionRunHook):
    """Ends the training as soon as the loss hardly changes from a step to the next."""

    def __init__(self, loss: Any, tolerance: float) -> None:
        self._loss, self._tolerance = loss, tolerance
        self._last: float | None = None

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf.train.SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss = run_values.results
        if self._last and abs(loss - self._last) / (1 + abs(self._last)) < self._tolerance:
            run_context.request_stop()
        self._last = loss
