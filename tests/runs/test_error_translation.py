import pytest
import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.errors import TfFrameError
from tf_frame.runs.error_translation import translated_errors


@pytest.mark.parametrize("place", ["figures.json", "file/figures.json"])
def test_a_folder_in_the_place_of_a_file_is_named_in_one_line(tmp_path, place):
    (tmp_path / "figures.json").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(TfFrameError, match="(Is|Not) a directory$"), translated_errors("runs/a"):
        write_file(str(tmp_path / place), "{}")


def test_another_error_of_the_same_class_keeps_its_traceback():
    with pytest.raises(tf.errors.FailedPreconditionError), translated_errors("runs/a"):
        raise tf.errors.FailedPreconditionError(None, None, "a variable has no value")
