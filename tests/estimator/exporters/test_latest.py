import pytest

from tf_frame.estimator.exporters import LatestExporter


def receiver_fn():
    raise AssertionError("the estimator calls it")


def names(exporter, tmp_path):
    return sorted(path.name for path in (tmp_path / "export" / exporter.name).iterdir())


def test_every_checkpoint_is_exported(offer, estimator, tmp_path):
    exporter = LatestExporter("latest", receiver_fn, assets_extra={"a": "/b"}, as_text=True)
    paths = [offer(exporter, step) for step in (1, 2, 3)]
    assert paths[2] == str(tmp_path / "export/latest/1000000003").encode()
    assert estimator.exported == [
        (receiver_fn, {"a": "/b"}, True, f"model.ckpt-{step}") for step in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("arguments", "kept"), [({}, 5), ({"exports_to_keep": 2}, 2), ({"exports_to_keep": None}, 7)]
)
def test_the_newest_exports_are_kept(offer, tmp_path, arguments, kept):
    exporter = LatestExporter("latest", receiver_fn, **arguments)
    for step in range(7):
        offer(exporter, step)
    numbers = [str(1000000000 + number) for number in range(1, 8)]
    assert names(exporter, tmp_path) == numbers[7 - kept :]


@pytest.mark.parametrize("number", [0, -1])
def test_at_least_one_export_is_kept(number):
    with pytest.raises(ValueError) as error:
        LatestExporter("latest", receiver_fn, exports_to_keep=number)
    assert str(error.value) == "`exports_to_keep`, if provided, must be positive number"
