import logging

from tf_frame.runs.setup.log_file import log_file


def test_names_in_the_log_do_not_steer_a_terminal_that_shows_it(tmp_path):
    with log_file(str(tmp_path)):
        logging.getLogger("tf_frame").info("class %s", "\x1b[2J\u202e")
    (line,) = (tmp_path / "train.log").read_text().splitlines()
    assert line.endswith("INFO class \\u001b[2J\\u202e")
