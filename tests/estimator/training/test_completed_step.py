"""Where a training ended in order."""

from tf_frame.estimator.training.completed_step import completed_step, write_completed_step


def test_the_last_end_is_what_counts(tmp_path):
    assert completed_step(str(tmp_path)) is None
    for step in (0, 12):
        write_completed_step(str(tmp_path), step)
        assert completed_step(str(tmp_path)) == step


def test_a_file_that_does_not_hold_a_step_says_nothing(tmp_path):
    write_completed_step(str(tmp_path), 3)
    (file,) = tmp_path.iterdir()
    for text in ("", "-3", "three"):
        file.write_text(text)
        assert completed_step(str(tmp_path)) is None
