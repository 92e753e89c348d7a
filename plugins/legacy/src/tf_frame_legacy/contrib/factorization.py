"""`tf.contrib.factorization`: k-means clustering as operations of a graph."""

from __future__ import annotations

from typing import Any

from tensorflow.python.ops import clustering_ops

SQUARED_EUCLIDEAN_DISTANCE = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
COSINE_DISTANCE = clustering_ops.COSINE_DISTANCE
RANDOM_INIT = clustering_ops.RANDOM_INIT
KMEANS_PLUS_PLUS_INIT = clustering_ops.KMEANS_PLUS_PLUS_INIT


class KMeans(clustering_ops.KMeans):  # type: ignore[misc]
    """TensorFlow's `KMeans`, whose graph includes the variable of the centers.

    Args:
      inputs: the points `[points, features]`, or a list of such tensors.
      num_clusters, initial_clusters, distance_metric, use_mini_batch,
        mini_batch_steps_per_iteration, random_seed, kmeans_plus_plus_num_retries,
        kmc2_chain_length: see `tensorflow.python.ops.clustering_ops.KMeans`.
    """

    _centers: Any = None

    def training_graph(self) -> tuple[Any, ...]:
        """Returns distances to all centers, indices of the closest centers, distances to these.

        These are tuples with a tensor for each of `inputs`. Then come a variable that tells whether
        there are centers, the variable of the centers, an operation that chooses centers, and one
        that trains a step.
        """
        *results, initialized, choose, train = super().training_graph()
        return (*results, initialized, self._centers, choose, train)

    def _create_variables(self, num_clusters: Any) -> Any:
        variables = super()._create_variables(num_clusters)
        self._centers = variables[0]
        return variables
