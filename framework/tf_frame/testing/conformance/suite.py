"""`Conformance`: the base of the suites, with the checks that every plugin has to pass.

A check is a method `test_...` with a docstring as its description. A failing check raises
AssertionError with the change that the author should make. A check that cannot run, such as without
data, raises `unittest.SkipTest`. The checks of a suite share costly objects, such as graphs.
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
from tf_frame.testing.conformance.side_effects import EFFECTS, loading_effects

T = TypeVar("T")
# Suite -> name -> an object that its checks share, or the error of making the object.
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
        effects = loading_effects(self.imported().cls)
        changes = [
            f"{words} ({effects[name]})" for name, words in EFFECTS.items() if name in effects
        ]
        assert "error" not in effects, (
            f"importing the plugin in a fresh process fails: {effects['error']}"
        )
        assert not changes, (
            f"importing the module of the plugin {'; '.join(changes)}; move that into the methods "
            "of the plugin, or leave it out"
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
        """Returns the class of the plugin with its metadata.

        Raises:
          PluginError: there is no such plugin, or it cannot be imported.
          TypeError: the suite has no plugin.
        """
        return cls.kept("imported", lambda: load_class(cls.kind, cls.plugin))

    @classmethod
    def loaded(cls) -> LoadedPlugin:
        """Returns the imported plugin.

        Raises:
          SkipTest: the plugin cannot be constructed and called, or its options cannot be used;
            another check reports that.
        """
        plugin = cls.imported().cls
        if check_methods(plugin, cls.kind):
            raise unittest.SkipTest(not_checked("definition_fits_the_contract"))
        with reported_by("options_have_help_and_usable_defaults"):
            cls.configured()
        return cls.imported()

    @classmethod
    def made_plugin(cls, **context: Any) -> Any:
        """Constructs the plugin with its options, `check_options` and `options`.

        Args:
          **context: arguments of the constructor in addition to `params`, such as the `info` of a
            model.

        Raises:
          SkipTest: the plugin needs data, or an option without a usable default.
        """
        with usable_here(cls.loaded().info.described):
            return cls.configured().make(**context)

    @classmethod
    def configured(cls) -> Any:
        """Returns the plugin with its options; `options` win over `check_options`.

        Raises:
          ConfigError: an option does not exist, or has a wrong value.
        """
        return cls.kept("configured", cls._configured)

    @classmethod
    def _configured(cls) -> ConfiguredPlugin:
        loaded = cls.imported()
        defaults = dict(getattr(loaded.cls, "check_options", {}))
        declared = declared_options(loaded.cls.Params)
        check_names(defaults, declared, f"check_options of {loaded.info.described}")
        start = f"{loaded.info.option_prefix}."
        options = {name.removeprefix(start): value for name, value in cls.options.items()}
        check_names(options, declared, "options")
        params = resolve(loaded.cls.Params, [defaults, options])
        return ConfiguredPlugin(loaded.info.name, loaded, params)

    @classmethod
    def kept(cls, name: str, make: Callable[[], T]) -> T:
        """Returns an object that the checks of the suite share; makes it in the first call.

        Args:
          name: name of the object in this suite.
          make: makes the object. Later calls return the same object, or raise the same error.
        """
        cache = _KEPT.setdefault(cls, {})
        if name not in cache:
            try:
                cache[name] = make(), None
            except (Exception, SystemExit) as error:
                cache[name] = None, error
        value, failure = cache[name]
        if failure is not None:
            raise failure
        return cast(T, value)

    @classmethod
    def teardown_class(cls) -> None:
        """Drops the shared objects after the last check."""
        _KEPT.pop(cls, None)


def load_class(kind: Kind, plugin: Any) -> LoadedPlugin:
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
