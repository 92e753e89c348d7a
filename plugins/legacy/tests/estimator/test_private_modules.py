"""The private modules of tensorflow_estimator that programs import."""

import re

import tensorflow.compat.v1 as tf

from tf_frame_legacy.estimator import gc, util


def versions(paths):
    return [path.export_version for path in paths]


def test_filters_of_exports(tmp_path):
    paths = [gc.Path(f"/exports/{number}", number) for number in range(10)]
    assert versions(gc._largest_export_versions(2)(paths)) == [8, 9]
    # The intervals [0, 3], (3, 6], (6, 9].
    assert versions(gc._one_of_every_n_export_versions(3)(paths)) == [3, 6, 9]
    assert versions(gc._mod_export_version(4)(paths)) == [0, 4, 8]
    both = gc._union(gc._mod_export_version(4), gc._largest_export_versions(2))
    assert versions(both(paths)) == [0, 4, 8, 9]
    assert versions(gc._negation(both)(paths)) == [1, 2, 3, 5, 6, 7]

    for name in ("5", "7", "other"):
        (tmp_path / name).mkdir()

    def parser(path):
        number = re.search(r"/(\d+)$", path.path)
        return path._replace(export_version=int(number[1])) if number else None

    found = gc._get_paths(str(tmp_path), parser)
    assert found == [(f"{tmp_path}/5", 5), (f"{tmp_path}/7", 7)]


def test_results_of_input_functions(graph):
    dataset = tf.data.Dataset.from_tensors((1, 2))
    features, labels, hooks = util.parse_input_fn_result(dataset)
    with tf.train.MonitoredSession(hooks=hooks) as session:
        assert session.run([features, labels]) == [1, 2]
    assert util.parse_input_fn_result({"x": 1}) == ({"x": 1}, None, [])
    assert util.parse_iterator_result([1, 2]) == (1, 2)


def test_the_step_of_the_newest_checkpoint(graph, tmp_path):
    assert util.saved_global_step(str(tmp_path)) == 0
    variable = tf.Variable(1.0)
    with tf.Session() as session:
        session.run(variable.initializer)
        tf.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    assert util.saved_global_step(str(tmp_path)) == 0
    step = tf.train.create_global_step()
    with tf.Session() as session:
        session.run([variable.initializer, step.assign(7)])
        tf.train.Saver().save(session, str(tmp_path / "model.ckpt"), global_step=7)
    assert util.saved_global_step(str(tmp_path)) == 7
