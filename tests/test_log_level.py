import logging

import pytest

from tf_frame.log_level import log_level


def test_the_level_is_that_of_before_after_an_error():
    logger = logging.getLogger("of_a_test")
    logger.setLevel(logging.WARNING)
    with pytest.raises(OSError), log_level("of_a_test", logging.DEBUG):
        assert logger.level == logging.DEBUG
        raise OSError
    assert logger.level == logging.WARNING
