"""docs/legacy/names.md is what tools/legacy_names.py writes."""

import importlib.util
from pathlib import Path

TOOL = Path(__file__).parents[4] / "tools" / "legacy_names.py"


def test_the_page_of_names_is_up_to_date():
    spec = importlib.util.spec_from_file_location("legacy_names", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "run tools/legacy_names.py"
