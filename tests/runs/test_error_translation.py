import inspect
import re

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.errors import DataError, TfFrameError
from tf_frame.runs.error_translation import translated_errors


@pytest.mark.parametrize("place", ["figures.json", "file/figures.json"])
def test_a_folder_in_the_place_of_a_file_is_named_in_one_line(tmp_path, place):
    (tmp_path / "figures.json").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(TfFrameError, match="(Is|Not) a directory$"), translated_errors("runs/a"):
        write_file(str(tmp_path / place), "{}")


@pytest.mark.parametrize(("resumes", "remedy"), [(True, "; training goes on "), (False, "$")])
def test_only_a_training_goes_on_after_a_full_disk(resumes, remedy):
    full = OSError(28, "No space left on device")
    with (
        pytest.raises(TfFrameError, match=f"^a file of runs/a .*\nfree space{remedy}"),
        translated_errors("runs/a", resumes=resumes),
    ):
        raise full


def test_another_error_of_the_same_class_keeps_its_traceback():
    with pytest.raises(tf.errors.FailedPreconditionError), translated_errors("runs/a"):
        raise tf.errors.FailedPreconditionError(None, None, "a variable has no value")


def fail(number):
    raise ValueError(f"bad record {number}")  # here


@pytest.mark.usefixtures("filtered_tracebacks")
def test_the_place_of_a_python_function_outside_the_plugin_is_named():
    """Such as of a module beside the package, whose lines are not those of a plugin."""
    with tf.Graph().as_default(), tf.Session() as session:
        data = tf.data.Dataset.range(2).map(lambda n: tf.numpy_function(fail, [n], tf.int64))
        batch = tf.data.make_one_shot_iterator(data).get_next()
        place = rf"{re.escape(__file__)}, line {inspect.getsourcelines(fail)[1] + 1}"
        message = rf"ValueError: bad record 0 \({place}\)$"
        with pytest.raises(DataError, match=message), translated_errors("runs/a"):
            session.run(batch)
