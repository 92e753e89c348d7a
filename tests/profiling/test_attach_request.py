import json
import os

import pytest

from tf_frame.errors import DataError
from tf_frame.profiling.attach_request import ProfileRequest, read_request, write_request


def test_requests_are_read_back(tmp_path):
    request = ProfileRequest("attach_1", 10, all_tasks=True)
    write_request(str(tmp_path), request)
    assert read_request(str(tmp_path)) == request


@pytest.mark.parametrize(
    "wrong",
    [
        {"label": "../../x"},
        {"label": ""},
        {"steps": "a"},
        {"steps": 0},
        {"pid": "1"},
        {"began": None},
        {"more": 1},
    ],
    ids=str,
)
def test_a_request_that_cannot_be_is_refused(tmp_path, wrong):
    content = json.dumps({"label": "attach_1", "steps": 3} | wrong)
    (tmp_path / "profile_request.json").write_text(content)
    with pytest.raises(DataError, match="profile_request.json is damaged"):
        read_request(str(tmp_path))


def test_a_request_that_another_user_may_have_written_is_refused(tmp_path):
    path = tmp_path / "profile_request.json"
    before = os.umask(0)
    try:
        write_request(str(tmp_path), ProfileRequest("attach_1", 10))
    finally:
        os.umask(before)
    with pytest.raises(DataError, match=r"is not obeyed: others can write it \(mode 666\)"):
        read_request(str(tmp_path))
    path.chmod(0o664)
    with pytest.raises(DataError, match="mode 664"):
        read_request(str(tmp_path))
    path.chmod(0o644)
    assert read_request(str(tmp_path)).steps == 10
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="cannot be read"):
        read_request(str(tmp_path))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(DataError, match="it is no plain file"):
        read_request(str(tmp_path))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_request_of_another_owner_is_refused(tmp_path):
    write_request(str(tmp_path), ProfileRequest("attach_1", 10))
    os.chown(tmp_path / "profile_request.json", 12345, 12345)
    with pytest.raises(DataError, match="it belongs to user 12345, and this run to 0"):
        read_request(str(tmp_path))
