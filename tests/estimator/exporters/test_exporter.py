import pytest

from tf_frame.estimator.exporters.exporter import exports_in, remove_exports


@pytest.fixture
def folder(tmp_path):
    for name in ["1000000003", "1000000001", "temp-1000000004", "100000001", "10000000xx"]:
        (tmp_path / name / "variables").mkdir(parents=True)
    (tmp_path / ".best.json").write_text("{}")
    return tmp_path


def test_exports_are_the_folders_named_after_a_time_oldest_first(folder):
    assert exports_in(str(folder)) == ["1000000001", "1000000003"]


def test_a_folder_that_is_not_there_has_no_exports(tmp_path):
    assert exports_in(str(tmp_path / "none")) == []


def test_an_export_goes_with_all_that_is_in_it_and_nothing_else(folder):
    remove_exports(str(folder), ["1000000001"])
    assert exports_in(str(folder)) == ["1000000003"]
    assert (folder / "temp-1000000004").exists()


def test_an_export_that_is_gone_already_is_logged(folder, caplog):
    remove_exports(str(folder), ["1000000007", "1000000001"])
    assert exports_in(str(folder)) == ["1000000003"]
    (message,) = caplog.messages
    assert message.startswith(f"Can not delete {folder}/1000000007 recursively: ")
