"""The input `nuclei` goes on after a stop as if there had been none."""

import pytest

from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_deeplab.nuclei import Nuclei, Params


@pytest.mark.parametrize("num_clones", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_crops_and_their_order_go_on_exactly(num_clones):
    source = Nuclei(params=Params(crop_size=33))
    # Twelve tiles train, so that the third batch of five begins another pass.
    assert source.info.num_examples["train"] == 12
    check_exact_resume(source, batch_size=5, steps=5, num_clones=num_clones)


@pytest.mark.slow
def test_labels_of_instances_go_on_exactly():
    source = Nuclei(params=Params(crop_size=33, instances=True))
    check_exact_resume(source, batch_size=5, steps=5)
