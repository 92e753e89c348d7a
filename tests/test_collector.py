import gc

import pytest

from tf_frame.collector import without_collector


@pytest.fixture(autouse=True)
def collector():
    yield
    gc.enable()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_before_after_the_block(enabled):
    (gc.enable if enabled else gc.disable)()
    with without_collector():
        assert not gc.isenabled()
    assert gc.isenabled() == enabled


def test_the_collector_runs_again_after_an_error_in_a_decorated_function():
    @without_collector()
    def fail():
        assert not gc.isenabled()
        raise KeyError

    for _ in range(2):
        with pytest.raises(KeyError):
            fail()
        assert gc.isenabled()
