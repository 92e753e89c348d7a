"""A file that an option names."""

import os

import pytest

from tf_frame.command_line.output_file import check_file, write_text
from tf_frame.errors import ConfigError, TfFrameError


def test_a_place_for_a_file_is_accepted_and_written(tmp_path, monkeypatch):
    check_file(None)
    path = tmp_path / "page.html"
    check_file(str(path))
    assert not path.exists()
    write_text(str(path), "text\u2581")
    assert path.read_text(encoding="utf-8") == "text\u2581"
    monkeypatch.setenv("HOME", str(tmp_path))
    write_text("~/other.html", "x")
    assert (tmp_path / "other.html").exists()


def test_places_where_no_file_can_be_are_refused_with_the_option(tmp_path):
    with pytest.raises(ConfigError, match=r"--output .* is a folder; give a file"):
        check_file(str(tmp_path), "--output")
    with pytest.raises(ConfigError, match=r"--html .*: there is no folder .*none"):
        check_file(str(tmp_path / "none" / "x.html"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_a_full_disk_is_one_line():
    with pytest.raises(TfFrameError, match=r"--html /dev/full.*No space left on device"):
        write_text("/dev/full", "x")
