import pytest

from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM, OPTIMIZER
from tf_frame.plugin.owners import plugins_with_option
from tf_frame.testing.distributions import write_distribution

PLUGINS = """
import dataclasses
from tf_frame import Optimizer, option


class Mine(Optimizer):
    @dataclasses.dataclass(frozen=True)
    class Params:
        beta1: float = option(0.9, "as of adam")
        beta_9: float = option(0.9, "its own")

    def __call__(self, learning_rate): ...


class Broken:
    pass
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    (tmp_path / "owners_test_plugins.py").write_text(PLUGINS)
    targets = {f"tf_frame.optimizers: {n}": f"owners_test_plugins:{n.title()}" for n in NAMES}
    write_distribution(tmp_path, "owners-test", targets)
    monkeypatch.syspath_prepend(str(tmp_path))
    return find_plugins()


NAMES = ("mine", "broken")


def test_the_plugins_of_a_kind_that_have_the_option_are_named(installed):
    def found(kind, option, first=("tf-frame",)):
        return plugins_with_option(kind, option, installed, first=first)

    assert found(OPTIMIZER, "beta1") == ["adam", "adamw", "lamb"]
    assert found(OPTIMIZER, "beta1", ["owners-test"]) == ["mine"]
    assert found(OPTIMIZER, "beta_9") == ["mine"]
    assert found(OPTIMIZER, "norm") == []
    assert "clip_by_norm" in found(GRADIENT_TRANSFORM, "norm")
