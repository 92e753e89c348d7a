"""`Conformance`: the base of the suites, with the checks that every plugin has to pass.

A check is a method `test_...` whose docstring is its description. It raises AssertionError with
what the author of the plugin should change, or `unittest.SkipTest` (which pytest knows) with what
it needs. Checks of one suite share what is costly, such as graphs.
"""

from __future__ import annotations

import contextlib
import unittest
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar, cast

from tf_frame.config.option import check_names, declared_options, resolve
from tf_frame.plugin.configured import ConfiguredPlugin
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.kinds import Kind, check_class, check_methods, check_options
from tf_frame.plugin.load import LoadedPlugin, load_plugin, unsupported_version
from tf_frame.plugin.origin import register
from tf_frame.testing.conformance.outcomes import (
    advise,
    fails_as,
    not_checked,
    reported_by,
    usable_here,
)
from tf_frame.testing.conformance.side_effects import EFFECTS, effects_of_loading

T = TypeVar("T")
# Suite -> name -> what its checks share, or the error of making it.
_KEPT: dict[type, dict[str, tuple[Any, BaseException | None]]] = {}


class Conformance:
    """The checks of plugins of every kind; the suites of the kinds are its subclasses.

    Attributes:
      plugin: name of an installed plugin, `distribution:name`, or a plugin class.
      options: option -> value, in the form of a configuration file; dotted names are flat keys
        (`{"input.slope": 3}`). They win over the plugin's `check_options`.
    """

    kind: ClassVar[Kind]
    plugin: ClassVar[Any] = None
    options: ClassVar[Mapping[str, Any]] = {}

    def test_loads_without_side_effects(self) -> None:
        """Importing the plugin and reading its options changes nothing else in the process."""
        effects = effects_of_loading(self.imported().cls)
        found = [f"{words} ({effects[name]})" for name, words in EFFECTS.items() if name in effects]
        assert "error" not in effects, (
            f"importing the plugin in a fresh process fails: {effects['error']}"
        )
        assert not found, (
            f"importing the module of the plugin {'; '.join(found)}; move that into the methods of "
            "the plugin, or leave it out"
        )
        if "tensorflow" in effects:
            advise(
                "the module of the plugin imports TensorFlow; import it inside build(), dataset() "
                "and __call__(), so that --help and errors in options are quick"
            )

    def test_definition_fits_the_contract(self) -> None:
        """The class has the attributes and methods of its kind, which take the right arguments."""
        plugin = self.imported().cls
        problem = unsupported_version(plugin) or check_class(plugin, self.kind)
        assert not problem, f"{problem}; see help(tf_frame.plugin.{self.kind.base.__name__})"

    def test_options_have_help_and_usable_defaults(self) -> None:
        """Every option has a help text and a default that its own type and bounds allow."""
        cls = self.imported().cls
        problem = check_options(cls, self.kind)
        assert not problem, f"{problem}; correct the type, the default or the bounds"
        without = [
            option.name for option in declared_options(cls.Params) if not option.help.strip()
        ]
        assert not without, (
            f"the options {', '.join(without)} have no help; define them by "
            'tf_frame.option(default, "help text")'
        )
        # The checks that need an input, which may be missing, are skipped.
        with (
            fails_as("the options to check with do not fit"),
            contextlib.suppress(unittest.SkipTest),
        ):
            self.configured()

    @classmethod
    def imported(cls) -> LoadedPlugin:
        """The class of the plugin with its metadata; that of a class names no package."""
        return cls.kept("imported", lambda: as_loaded(cls.kind, cls.plugin))

    @classmethod
    def loaded(cls) -> LoadedPlugin:
        """The same; skips the check if the class cannot be constructed and called."""
        plugin = cls.imported().cls
        if check_methods(plugin, cls.kind):
            raise unittest.SkipTest(not_checked("definition_fits_the_contract"))
        with reported_by("options_have_help_and_usable_defaults"):
            cls.configured()
        return cls.imported()

    @classmethod
    def made_plugin(cls, **context: Any) -> Any:
        """Constructs the plugin with its options, `check_options` and `options`.

        Raises:
          SkipTest: it needs data, or an option that has no usable default.
        """
        with usable_here(cls.loaded().info.described):
            return cls.configured().make(**context)

    @classmethod
    def configured(cls) -> Any:
        """The plugin with its options, of which those of the user win over `check_options`.

        Raises:
          ConfigError: one of them does not exist, or has a wrong value.
        """
        return cls.kept("configured", cls._configured)

    @classmethod
    def _configured(cls) -> ConfiguredPlugin:
        loaded = cls.imported()
        own = dict(getattr(loaded.cls, "check_options", {}))
        given = dict(cls.options)
        known = declared_options(loaded.cls.Params)
        check_names(own, known, f"check_options of {loaded.info.described}")
        start = f"{loaded.info.option_prefix}."
        given = {name.removeprefix(start): value for name, value in given.items()}
        check_names(given, known, "options")
        params = resolve(loaded.cls.Params, [own, given])
        return ConfiguredPlugin(loaded.info.name, loaded, params)

    @classmethod
    def kept(cls, name: str, make: Callable[[], T]) -> T:
        """Returns what `make` made the first time, or raises what it raised then."""
        kept = _KEPT.setdefault(cls, {})
        if name not in kept:
            try:
                kept[name] = make(), None
            except (Exception, SystemExit) as error:
                kept[name] = None, error
        value, failure = kept[name]
        if failure is not None:
            raise failure
        return cast(T, value)

    @classmethod
    def teardown_class(cls) -> None:
        """Called after the last check: lets go of the graphs."""
        _KEPT.pop(cls, None)


def as_loaded(kind: Kind, plugin: Any) -> LoadedPlugin:
    """Loads a plugin by its name, or wraps a class as if a package `tests` had registered it."""
    if isinstance(plugin, LoadedPlugin):
        return plugin
    if isinstance(plugin, str):
        return load_plugin(kind, plugin)
    if plugin is None:
        raise TypeError("the suite has no plugin; set its attribute: plugin = 'NAME', or a class")
    target = f"{plugin.__module__}:{plugin.__qualname__}"
    info = PluginInfo(kind, plugin.__name__.lower(), target, "tests", "0")
    register(plugin, info)
    return LoadedPlugin(info, plugin)
