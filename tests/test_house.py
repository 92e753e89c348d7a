"""The layers of the house: a room imports from its own floor or below.

`tf_frame.errors` stands under all of them, and so does the version.
"""

import ast
from pathlib import Path

import pytest

import tf_frame

PACKAGE = Path(tf_frame.__file__).parent
FLOORS = {
    **dict.fromkeys(["config", "cluster", "deploy", "layers"], 1),
    **dict.fromkeys(
        [
            "plugin",
            "graph",
            "checkpoint",
            "profiling",
            "gradient_transforms",
            "optimizers",
            "learning_rates",
        ],
        2,
    ),
    **dict.fromkeys(["hooks", "session"], 3),
    "estimator": 4,
    "cli": 5,
    # Beside the house: these may look into every room, and no room looks at them.
    **dict.fromkeys(["legacy", "testing"], 6),
}
# Importing these must stay quick, so not even below a function do they name TensorFlow.
WITHOUT_TENSORFLOW = ("config", "cluster", "plugin", "cli")
MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(module):
    """`config` for tf_frame.config.flags; None for tf_frame itself and its errors."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "tf_frame" and parts[1] in FLOORS else None


def imports_of(path):
    """Names of the modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_of(path):
    return "tf_frame." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


@pytest.mark.parametrize("path", MODULES, ids=module_of)
def test_a_room_imports_only_from_its_floor_or_below(path):
    own = room_of(module_of(path))
    if own is None:
        return
    for imported in imports_of(path):
        other = room_of(imported)
        assert other is None or FLOORS[other] <= FLOORS[own], f"{own} imports {imported}"
        assert other == own or other not in ("legacy", "testing"), f"{own} imports {imported}"


@pytest.mark.parametrize("path", MODULES, ids=module_of)
def test_rooms_that_start_quickly_do_not_name_tensorflow(path):
    if room_of(module_of(path)) in WITHOUT_TENSORFLOW:
        assert not [name for name in imports_of(path) if name.split(".")[0] == "tensorflow"]


def test_every_folder_is_a_room():
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert folders <= FLOORS.keys()
