"""Results of the best exports."""

from tf_frame.estimator.exporters.best_results import KeptExports


def test_an_export_that_takes_the_name_of_one_that_was_removed_is_the_best(tmp_path):
    kept = KeptExports(str(tmp_path))
    first, second = "1700000001", "1700000002"
    for name, loss in ((first, 1.0), (second, 0.5)):
        (tmp_path / name).mkdir()
        kept.add(str(tmp_path / name), {"loss": loss})
    kept.add(str(tmp_path / first), {"loss": 0.1})
    assert kept.in_order() == [second, first]
    assert [metrics["loss"] for metrics in KeptExports(str(tmp_path)).results()] == [0.5, 0.1]
