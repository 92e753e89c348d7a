"""The architecture: a strict order of packages, no import circles, tests that mirror the tree.

Each test lists all violations at once. The modules at the top level of `tf_frame`, such as
`tf_frame.errors`, stand below every package.
"""

import pytest

from source_tree import FRAMEWORK, PLUGINS, ROOT, imports, modules

# The packages of the framework, lowest first. A package imports from those before it only.
ORDER = (
    *("config", "layers", "plugin", "checkpoint", "weights", "cluster", "deploy"),
    *("optimizers", "learning_rates", "gradient_transforms", "scaffold", "graph"),
    *("profiling", "hooks", "session", "runs", "inputs", "estimator", "experiments"),
    *("command_line", "launch", "testing", "cli"),
)
# The parts of `runs`, lowest first.
RUNS_ORDER = (
    *("error_translation", "setup", "records", "comparison", "warm_start", "evaluation"),
    *("prediction", "export", "training"),
)
# Importing these packages must stay quick, so not even their functions import TensorFlow.
WITHOUT_TENSORFLOW = (
    *("config", "cluster", "plugin", "scaffold"),
    *("command_line", "launch", "cli"),
)
# But the server of a task is one of TensorFlow's; nothing imports these before it starts.
_OF_SERVERS = ("agreement", "clock", "key_value_store", "server")
WITH_TENSORFLOW = {f"tf_frame.cluster.{name}" for name in _OF_SERVERS}


def package_name(name):
    """Returns the package `config` for `tf_frame.config.flags`; None outside of the packages."""
    top, _, rest = name.partition(".")
    package = rest.split(".")[0]
    return package if top == "tf_frame" and package in ORDER else None


def test_packages_import_from_lower_packages_only():
    violations = [
        f"{name} imports {imported}"
        for name, path in modules(FRAMEWORK).items()
        for imported in imports(path)
        if (own := package_name(name)) and (other := package_name(imported))
        if ORDER.index(other) > ORDER.index(own)
    ]
    assert not violations


def test_parts_of_runs_import_lower_parts_only():
    modules_of_runs = {
        name: path for name, path in modules(FRAMEWORK).items() if name.startswith("tf_frame.runs.")
    }
    violations = [
        f"{name} imports {imported}"
        for name, path in modules_of_runs.items()
        for imported in imports(path)
        if imported.startswith("tf_frame.runs.")
        if RUNS_ORDER.index(imported.split(".")[2]) > RUNS_ORDER.index(name.split(".")[2])
    ]
    assert len(modules_of_runs) > 20
    assert not violations


def test_modules_at_the_top_level_import_no_package():
    violations = [
        f"{name} imports {imported}"
        for name, path in modules(FRAMEWORK).items()
        if name.count(".") == 1 and path.stem not in ("__init__", "__main__")
        for imported in imports(path)
        if package_name(imported)
    ]
    assert not violations


def test_packages_that_start_quickly_do_not_import_tensorflow():
    violations = [
        f"{name} imports {imported}"
        for name, path in modules(FRAMEWORK).items()
        if package_name(name) in WITHOUT_TENSORFLOW and name not in WITH_TENSORFLOW
        for imported in imports(path)
        if imported.split(".")[0] == "tensorflow"
    ]
    assert not violations


def test_every_folder_is_in_the_order():
    folders = {path.name for path in FRAMEWORK.iterdir() if (path / "__init__.py").exists()}
    assert folders == set(ORDER)


def import_graph(package):
    """The modules of a package that each of its modules imports by name.

    Without the top-level module: it only re-exports, `tf_frame` partly when a name is first used.
    """
    known = {name: path for name, path in modules(package).items() if name != package.name}

    def module_name(imported):
        return imported if imported in known else imported.rpartition(".")[0]

    return {
        name: {module_name(imported) for imported in imports(path)} & known.keys() - {name}
        for name, path in known.items()
    }


def circles(graph):
    """Groups of modules that import each other, directly or through further modules."""

    def reachable(start):
        found, waiting = set(), [start]
        while waiting:
            new = graph[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    reach = {name: reachable(name) for name in graph}
    return {
        tuple(sorted(other for other in reach[name] if name in reach[other]))
        for name in graph
        if name in reach[name]
    }


@pytest.mark.parametrize("package", [FRAMEWORK, *PLUGINS], ids=lambda path: path.name)
def test_no_modules_import_each_other_in_a_circle(package):
    assert not circles(import_graph(package))


def package_graph(package):
    """The parts of a plugin, folders and modules at its top, that each of them imports."""
    graph = {}
    for name, imported in import_graph(package).items():
        parts = {other.split(".")[1] for other in imported}
        graph.setdefault(name.split(".")[1], set()).update(parts - {name.split(".")[1]})
    return graph


@pytest.mark.parametrize("package", PLUGINS, ids=lambda path: path.name)
def test_no_folders_of_a_plugin_import_each_other_in_a_circle(package):
    assert not circles(package_graph(package))


def is_legacy(name):
    """Returns whether a module keeps the names of another project for old code."""
    return name.startswith("tf_frame_legacy") or "legacy" in name.split(".")[:2]


def test_plugins_import_no_other_plugin_but_the_shared_one():
    """Only the folder `legacy` of a plugin imports tf-frame-legacy, and nothing imports that."""
    names = {path.name for path in PLUGINS}
    violations = [
        f"{name} imports {imported}"
        for plugin in PLUGINS
        for name, path in modules(plugin).items()
        for imported in imports(path)
        if imported.split(".")[0] in names - {plugin.name, "tf_frame_vision", "tf_frame_legacy"}
        or (is_legacy(imported) and not is_legacy(name))
    ]
    assert names >= {"tf_frame_vision", "tf_frame_classification", "tf_frame_deeplab"}
    assert not violations


def mirrored(test):
    """Returns whether the path of a test file mirrors the path of a module.

    `tests/graph/test_losses.py` tests the module `graph/losses.py`, `tests/hooks/test_hooks.py`
    the whole package `hooks/`. A module with several test files has a folder of its own name:
    `tests/session/loop/test_edges.py`.
    """
    folder, name = test.relative_to(ROOT / "tests").parent, test.stem.removeprefix("test_")
    twins = [folder / name, *([folder] if name == folder.name or len(folder.parts) > 1 else [])]
    return any(
        (FRAMEWORK / twin).with_suffix(".py").exists()
        or (name == twin.name and (FRAMEWORK / twin / "__init__.py").exists())
        for twin in twins
    )


def test_tests_mirror_the_tree():
    elsewhere = {"cluster", "documents", "release", "scenarios", "support"}
    tests = sorted((ROOT / "tests").glob("*/**/test_*.py"))
    apart = [path for path in tests if path.relative_to(ROOT / "tests").parts[0] in elsewhere]
    assert not [str(path) for path in tests if path not in apart and not mirrored(path)]
