"""Clusters of points: the operations, and the Estimator that stands on them."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_legacy.contrib.factorization import KMeans
from tf_frame_legacy.estimator.canned.kmeans import KMeansClustering
from tf_frame_legacy.estimator.inputs import numpy_input_fn

CENTERS = np.array([[0, 0], [10, 0], [0, 10]], np.float32)
GROUPS = np.repeat([0, 1, 2], 20)
POINTS = CENTERS[GROUPS] + np.random.RandomState(0).uniform(-1, 1, (60, 2)).astype(np.float32)


def input_fn(shuffle=False, epochs=1):
    columns = {"x": POINTS[:, :1], "y": POINTS[:, 1:]}
    return numpy_input_fn(columns, batch_size=60, num_epochs=epochs, shuffle=shuffle)


def check_groups(index):
    """Checks that points of a group have the same index, and no others."""
    firsts = [index[group * 20] for group in range(3)]
    assert len(set(firsts)) == 3
    np.testing.assert_array_equal(index, np.array(firsts)[GROUPS])


@pytest.mark.parametrize("distance", ["squared_euclidean", "cosine"])
@pytest.mark.parametrize("batches", [{}, {"use_mini_batch": True}])
@pytest.mark.usefixtures("control_flow_of_v1")
def test_operations(graph, variable_mode, distance, batches):
    points = tf.constant(POINTS + 4.0)
    start = POINTS[[0, 20, 40]] + 4.0
    kmeans = KMeans(points, 3, initial_clusters=start, distance_metric=distance, **batches)
    scores, (index,), distances, is_initialized, centers, choose, train = kmeans.training_graph()
    with initialized_session() as session:
        session.run(choose)
        assert session.run(is_initialized)
        before = session.run(tf.reduce_sum(distances))
        for _ in range(5):
            session.run(train)
        assert session.run(tf.reduce_sum(distances)) < before
        assert session.run(scores[0]).shape == (60, 3)
        check_groups(session.run(index))
        if distance == "squared_euclidean":
            np.testing.assert_allclose(session.run(centers), CENTERS + 4.0, atol=0.5)


@pytest.mark.slow
def test_estimator(tmp_path):
    kmeans = KMeansClustering(
        3, str(tmp_path), initial_clusters=KMeansClustering.KMEANS_PLUS_PLUS_INIT, random_seed=2
    )
    kmeans.train(input_fn(shuffle=True, epochs=None), steps=5)
    score = kmeans.score(input_fn())
    kmeans.train(input_fn(shuffle=True, epochs=None), steps=20)
    assert kmeans.score(input_fn()) <= score
    assert kmeans.cluster_centers().shape == (3, 2)
    index = list(kmeans.predict_cluster_index(input_fn()))
    check_groups(np.array(index))
    distances = np.array(list(kmeans.transform(input_fn())))
    np.testing.assert_array_equal(distances.argmin(axis=1), index)


def test_estimator_stops_as_soon_as_the_loss_hardly_changes(tmp_path):
    kmeans = KMeansClustering(
        3,
        str(tmp_path),
        POINTS[[0, 20, 40]],
        use_mini_batch=False,
        relative_tolerance=0.01,
        feature_columns=[tf.feature_column.numeric_column(name) for name in "xy"],
    )
    kmeans.train(input_fn(epochs=None), steps=50)
    assert kmeans.get_variable_value("global_step") < 10


@pytest.mark.parametrize("argument", ["initial_clusters", "distance_metric"])
def test_what_it_refuses(argument):
    with pytest.raises(ValueError, match="Unsupported"):
        KMeansClustering(3, **{argument: "best"})
