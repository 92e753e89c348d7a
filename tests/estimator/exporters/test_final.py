from tf_frame.estimator.exporters import FinalExporter


def receiver_fn():
    raise AssertionError("the estimator calls it")


def test_only_the_last_checkpoint_is_exported(offer, estimator, tmp_path):
    exporter = FinalExporter("last", receiver_fn)
    assert offer(exporter, 1) is None
    assert estimator.exported == []
    path = offer(exporter, 2, final=True)
    assert path == str(tmp_path / "export/last/1000000001").encode()
    assert estimator.exported == [(receiver_fn, None, False, "model.ckpt-2")]


def test_the_estimator_is_told_what_to_add_and_how_to_write(offer, estimator):
    exporter = FinalExporter("last", receiver_fn, assets_extra={"a": "/b"}, as_text=True)
    assert exporter.name == "last"
    offer(exporter, 3, final=True)
    assert estimator.exported == [(receiver_fn, {"a": "/b"}, True, "model.ckpt-3")]
