"""Where a training ended in order."""

from tf_frame.estimator.ended_at import ended_at, note_end


def test_the_last_end_is_what_counts(tmp_path):
    assert ended_at(str(tmp_path)) is None
    for step in (0, 12):
        note_end(str(tmp_path), step)
        assert ended_at(str(tmp_path)) == step


def test_a_file_that_does_not_hold_a_step_says_nothing(tmp_path):
    note_end(str(tmp_path), 3)
    (file,) = tmp_path.iterdir()
    for text in ("", "-3", "three"):
        file.write_text(text)
        assert ended_at(str(tmp_path)) is None
