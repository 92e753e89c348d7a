import json
import os
import time

import pytest

from tf_frame.errors import DataError
from tf_frame.profiling.attach_request import ProfileRequest, age_secs, read_request, write_request


def test_requests_are_read_back_and_processes_have_an_age(tmp_path):
    request = ProfileRequest("attach_1", 10, all_tasks=True)
    write_request(str(tmp_path), request)
    assert read_request(str(tmp_path)) == request
    before = age_secs(os.getpid())
    began = time.time() - before
    assert 0 < before < 10**7
    assert age_secs(os.getppid()) >= before - 1
    assert time.time() - age_secs(os.getpid()) == pytest.approx(began, abs=0.1)
    assert age_secs(2**22) == 0


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
    with pytest.raises(DataError, match="is no request for a profile"):
        read_request(str(tmp_path))
