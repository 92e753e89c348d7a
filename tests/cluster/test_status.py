"""Status files."""

import shutil

import pytest

from tf_frame.cluster.status import TRAINING, own_status, read_statuses, write_status
from tf_frame.errors import TfFrameError


def test_a_folder_that_was_removed_is_not_made_again(tmp_path):
    folder, status = tmp_path / "run", own_status("worker-0", TRAINING, step=3)
    folder.mkdir()
    write_status(str(folder), status)
    assert read_statuses(str(folder)) == [status]
    shutil.rmtree(folder)
    with pytest.raises(TfFrameError, match="run was removed while worker-0 wrote to it"):
        write_status(str(folder), status)
    assert not folder.exists()
