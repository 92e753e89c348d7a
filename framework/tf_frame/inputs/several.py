r"""The input plugin `several`: trains on several inputs at once; each has its own batch size.

    tf-frame run --plugin detection --input several --train_batch_size 8 \\
      --input.source trees:batch_size=6 \\
      --input.source coco_json:batch_size=2:data_dir=photos:image_size=200

The model gets lists of features and labels, in the order of the sources. Evaluation, prediction
and export use only the first source.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame.config.option import check_names, declared_options, option, resolve
from tf_frame.config.values import to_text
from tf_frame.errors import ConfigError, DataError
from tf_frame.picture_sheet import draw_examples
from tf_frame.plugin.configured import ConfiguredPlugin
from tf_frame.plugin.contracts import InputContext, Plugin
from tf_frame.plugin.data_report import DataReport
from tf_frame.plugin.data_warnings import find_data_report
from tf_frame.plugin.input_info import InputInfo, Mode
from tf_frame.plugin.kinds import INPUT
from tf_frame.plugin.load import load_plugin
from tf_frame.text import brief

_FORM = "NAME:batch_size=N:KEY=VALUE..."
_BATCH_SIZE = "batch_size"
# A colon begins an option only before `KEY=`, so that a value may contain colons (`gs://photos`).
_SEPARATOR = re.compile(r"(?<!\\):(?=\w+=)")
# Facts that must be equal in all sources; class_names only if both sources have names.
_SAME = ("num_classes", "class_names", "ignore_label")


@dataclasses.dataclass(frozen=True)
class Params:
    """Options of the input."""

    source: tuple[str, ...] = option(
        (),
        f"an input, {_FORM}: its part of --train_batch_size, and its own options; a colon of a "
        "value before WORD= is written \\:; repeat it for each",
        verbatim=True,
    )
    source_defaults: tuple[str, ...] = option(
        (),
        "KEY=VALUE, for the sources that have this option; default: proposals of the model; "
        "repeatable",
        verbatim=True,
    )


@dataclasses.dataclass(frozen=True)
class _Source:
    """An input to take training examples from.

    Attributes:
      plugin: its class and options.
      batch_size: its number of examples among the `--train_batch_size` examples of a step.
    """

    plugin: ConfiguredPlugin
    batch_size: int


class Several(Plugin):
    """Batches of several inputs to train on, as lists of features and labels.

    All other attributes are the first source's, such as `prediction_dataset`.
    """

    Params: ClassVar[type] = Params

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        self._sources = _sources(params)
        self._inputs = [
            _make_named(source.plugin.make, text)
            for source, text in zip(self._sources, params.source, strict=True)
        ]
        self._check_infos()
        self._check_options()
        self.exact_resume = all(getattr(source, "exact_resume", True) for source in self._inputs)

    @classmethod
    def without_data(cls, *, params: Any, info: InputInfo) -> Any:
        """Constructs the first source, without its data if it can do so."""
        plugin = _sources(params)[0].plugin
        source = plugin.make_without_data(info)
        return plugin.make() if source is None else source

    @property
    def info(self) -> InputInfo:
        """Facts about the first source, with the training examples of all sources."""
        first: InputInfo = self._inputs[0].info
        counts = [source.info.num_examples.get(Mode.TRAIN) for source in self._inputs]
        if None in counts:
            return first
        num_examples = {**first.num_examples, Mode.TRAIN: sum(filter(None, counts))}
        return dataclasses.replace(first, num_examples=num_examples)

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns the data sets of all sources to train on, else the data set of the first source.

        Raises:
          ConfigError: the batch sizes do not add up to the batch size of a step, or a source has
        several data sets.
        """
        if mode != Mode.TRAIN:
            return self._inputs[0].dataset(mode, context)
        return [
            self._part(number, dataclasses.replace(context, batch_size=size))
            for number, size in enumerate(self._clone_sizes(context))
        ]

    def notes(self) -> Sequence[str]:
        """Names the source that is evaluated, and repeats the notes of the sources."""
        name = self._sources[0].plugin.name
        notes = [line for source in self._inputs for line in getattr(source, "notes", tuple)()]
        return [f"evaluations are of {name}, the first source", *notes]

    def data_report(self) -> DataReport:
        """Returns the report of the first source, with the training examples of all sources."""
        first, *further = [find_data_report(source) for source in self._inputs]
        splits = dict(first.splits)
        if Mode.TRAIN in splits:
            splits[Mode.TRAIN] = dataclasses.replace(
                splits[Mode.TRAIN], examples=self.info.num_examples.get(Mode.TRAIN)
            )
        return dataclasses.replace(
            first,
            splits=splits,
            remarks=(*first.remarks, f"classes are those of {self._sources[0].plugin.name}"),
            warnings=tuple(warning for part in (first, *further) for warning in part.warnings),
        )

    def draw_examples(self, features: Any, labels: Any) -> Sequence[Any]:
        """Returns pictures of the examples of all sources, in turn."""
        drawn = map(draw_examples, self._inputs, features, labels)
        in_turn = itertools.chain.from_iterable(itertools.zip_longest(*drawn))
        return [picture for picture in in_turn if picture is not None]

    def __getattr__(self, name: str) -> Any:
        # Copies ask for attributes before there are any.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inputs[0], name)

    def _part(self, number: int, context: InputContext) -> Any:
        # The sources draw different numbers.
        context = dataclasses.replace(context, seed=context.seed + number)
        part = self._inputs[number].dataset(Mode.TRAIN, context)
        if isinstance(part, (list, tuple)):
            raise ConfigError(
                f"--input.source {self.params.source[number]} has several data sets itself; give "
                "each as a source"
            )
        return part

    def _clone_sizes(self, context: InputContext) -> list[int]:
        """Returns the number of examples of each source in the batch of a clone."""
        sizes = [source.batch_size for source in self._sources]
        total = context.train_batch_size or context.batch_size
        listed = " and ".join(map(str, sizes))
        if sum(sizes) != total:
            raise ConfigError(
                f"the batch sizes of --input.source, {listed}, make {sum(sizes)}, but "
                f"--train_batch_size is {total}; give --train_batch_size {sum(sizes)}"
            )
        parts = total // context.batch_size
        if any(size % parts for size in sizes):
            raise ConfigError(
                f"the batch sizes of --input.source, {listed}, cannot be divided among {parts} "
                f"clones; give multiples of {parts}"
            )
        return [size // parts for size in sizes]

    def _check_infos(self) -> None:
        first, *further = [source.info for source in self._inputs]
        for number, info in enumerate(further, 1):
            for name in _SAME:
                expected, fact = getattr(first, name), getattr(info, name)
                if expected != fact and not (name == "class_names" and not (expected and fact)):
                    names = [self._sources[at].plugin.name for at in (0, number)]
                    raise ConfigError(
                        f"--input.source: {names[0]} has the {name} {brief(expected)}, but "
                        f"{names[1]} has {brief(fact)}; all sources need the same"
                    )

    def _check_options(self) -> None:
        first, *further = self._inputs
        for number, source in enumerate(further, 1):
            for name in sorted({*_shared_options(first)}.intersection(_shared_options(source))):
                expected, value = (to_text(getattr(s.params, name)) for s in (first, source))
                if expected != value:
                    names = [self._sources[at].plugin.name for at in (0, number)]
                    raise ConfigError(
                        f"--input.source: {names[0]} has the {name} {expected}, but {names[1]} has "
                        f"{value}; give all the same, such as by --input.source_defaults "
                        f"{name}={expected}"
                    )


def _shared_options(source: Any) -> Sequence[str]:
    return getattr(source, "shared_options", ())


def _sources(params: Any) -> list[_Source]:
    if not params.source:
        raise ConfigError(f"--input several needs sources: --input.source {_FORM} for each")
    defaults = _pairs(params.source_defaults, "--input.source_defaults")
    return [_source(text, defaults) for text in params.source]


def _source(text: str, defaults: Mapping[str, str]) -> _Source:
    flag = f"--input.source {text}"
    name, *words = _SEPARATOR.split(text)
    given_values = _pairs(words, flag)
    loaded = load_plugin(INPUT, name)
    size = _batch_size(given_values.pop(_BATCH_SIZE, ""), flag)
    options = declared_options(loaded.cls.Params)
    check_names(given_values, options, flag)
    try:
        values = resolve(loaded.cls.Params, [defaults, given_values])
    except ConfigError as error:
        raise ConfigError(f"{flag}: {error}") from None
    return _Source(ConfiguredPlugin(name, loaded, values), size)


def _pairs(words: Sequence[str], flag: str) -> dict[str, str]:
    pairs = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key in pairs:
            raise ConfigError(f"{flag}: {brief(word)} is no KEY=VALUE with a key of its own")
        pairs[key] = value.replace("\\:", ":")
    return pairs


def _batch_size(text: str, flag: str) -> int:
    if not re.fullmatch("[1-9][0-9]*", text):
        size = f"the batch_size {brief(text)}" if text else "no batch_size"
        raise ConfigError(f"{flag} has {size}; give a positive number: {_FORM}")
    return int(text)


def _make_named(make: Any, text: str) -> Any:
    """Constructs a source; adds its option to the message of an error."""
    try:
        return make()
    except (ConfigError, DataError) as error:
        raise type(error)(f"--input.source {text}: {error}") from error
