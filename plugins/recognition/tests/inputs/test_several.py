"""Words and digits at once, with a batch size each."""

import pytest

from tf_frame.errors import ConfigError
from tf_frame.inputs.several import Params, Several
from tf_frame.testing.exact_resume import check_exact_resume

SOURCES = ("rendered_words:batch_size=4", "digit_strings:batch_size=2")


def several(*defaults):
    return Several(params=Params(source=SOURCES, source_defaults=defaults))


@pytest.mark.slow
def test_two_clones_train_on_both_and_resume_exactly():
    source = several("characters=lower", "max_length=9", "image_size=16,64")
    assert source.info.num_classes == 36
    check_exact_resume(source, batch_size=3, steps=2, num_clones=2)


def test_sources_that_a_model_cannot_join_are_refused():
    with pytest.raises(ConfigError, match="rendered_words has the num_classes 36, but digit_str"):
        several()
    message = "has the max_length 25, but digit_strings has 8; give all .* max_length=25"
    with pytest.raises(ConfigError, match=message):
        several("characters=lower")
