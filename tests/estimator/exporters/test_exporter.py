import pytest

from refusals import refusal
from tf_frame.estimator.exporters.exporter import FinalExporter, LatestExporter, remove_exports
from tf_frame.runs.export.staging import list_exports


def receiver_fn():
    raise AssertionError("the estimator calls it")


@pytest.fixture
def folder(tmp_path):
    for name in ["1000000003", "1000000001", "temp-1000000004", "100000001", "10000000xx"]:
        (tmp_path / name / "variables").mkdir(parents=True)
    (tmp_path / ".best.json").write_text("{}")
    return tmp_path


def test_an_export_goes_with_all_that_is_in_it_and_one_that_is_gone_is_logged(folder, caplog):
    remove_exports(str(folder), ["1000000007", "1000000001"])
    assert list_exports(str(folder)) == ["1000000003"]
    assert (folder / "temp-1000000004").exists()
    (message,) = caplog.messages
    assert message.startswith(f"Can not delete {folder}/1000000007 recursively: ")


def test_only_the_last_checkpoint_is_exported_with_what_the_exporter_was_given(
    offer, estimator, tmp_path
):
    exporter = FinalExporter("last", receiver_fn)
    assert (exporter.name, offer(exporter, 1), estimator.exported) == ("last", None, [])
    path = offer(exporter, 2, final=True)
    assert path == str(tmp_path / "export/last/1000000001").encode()
    given = FinalExporter("last", receiver_fn, assets_extra={"a": "/b"}, as_text=True)
    offer(given, 3, final=True)
    assert estimator.exported == [
        (receiver_fn, None, False, "model.ckpt-2"),
        (receiver_fn, {"a": "/b"}, True, "model.ckpt-3"),
    ]


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
    message = "`exports_to_keep`, if provided, must be positive number"
    arguments = {"exports_to_keep": number}
    assert refusal(LatestExporter, "latest", receiver_fn, **arguments) == (ValueError, message)
