import importlib
import sys

import pytest

from tf_frame.testing.distributions import write_distribution

MODEL = """
import dataclasses

class {cls}:
    @dataclasses.dataclass
    class Params:
        depth: int = 1

    def __init__(self, *, params, info):
        pass

    def build(self, features, labels, mode):
        pass
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """An empty folder of packages, on the path for the length of a test."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def install(site):
    """Writes a package that brings one model, with the source of its module."""

    def install(distribution, name, source=None, *, target=None, **metadata):
        module = distribution.replace("-", "_")
        (site / f"{module}.py").write_text(MODEL.format(cls="Net") if source is None else source)
        entry_points = {f"tf_frame.models: {name}": target or f"{module}:Net"}
        write_distribution(site, distribution, entry_points, **metadata)
        importlib.invalidate_caches()

    return install
