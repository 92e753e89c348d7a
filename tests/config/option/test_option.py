import dataclasses

import pytest

from tf_frame.config.flags import parse_flags
from tf_frame.config.option import Option, declared_options, option
from tf_frame.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class Params:
    stride: int = option(16, "output stride", choices=(8, 16))
    rates: tuple[int, ...] = option((6, 12), "atrous rates", min=1, max=36)
    decay: float | None = option(None, "weight decay", min=0)
    name: str = option("xception", "network")
    plain: bool = False


def by_name(prefix=""):
    return {field.name: field for field in declared_options(Params, prefix)}


def test_an_option_may_require_another_or_one_of_several():
    @dataclasses.dataclass
    class Tracing:
        every: int = option(0, "steps")
        gzip: bool = option(False, "compress", requires="every")
        memory: bool = option(False, "memory", requires=("every", "gzip"))

    assert [field.requires for field in declared_options(Tracing)] == [
        (),
        ("every",),
        ("every", "gzip"),
    ]


@pytest.mark.parametrize(
    ("type_", "default"),
    [(int, 1), (float, 1), (int | None, None), (tuple[str, ...], ()), (str, ""), (bool, False)],
)
def test_a_default_of_its_type_makes_a_good_definition(type_, default):
    Option("x", type_, default).check_definition()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Option("x", list[int], []), "option 'x': there are no options of type list"),
        (Option("x", int, "three"), "option 'x': its default is refused: 'three' is not a whole"),
        (Option("x", int, 0, min=1), "option 'x': its default is refused: 0 is out of range"),
        (Option("x", tuple[str, ...], "a"), "refused: 'a' should be"),
    ],
)
def test_a_wrong_definition_names_the_option(wrong, message):
    with pytest.raises(ConfigError, match=message):
        wrong.check_definition()


def test_commas_belong_to_the_items_of_a_verbatim_option():
    @dataclasses.dataclass
    class Params:
        rules: tuple[str, ...] = option((), "rules", verbatim=True)

    (rules,) = declared_options(Params)
    assert rules.parse("a{1,2}=b") == ("a{1,2}=b",)
    assert rules.parse("") == ()
    assert rules.parse(["a,b", "c"]) == ("a,b", "c")
    words = ["--rules", "a,b", "--rules=c"]
    assert parse_flags(words, [rules]) == {"rules": ("a,b", "c")}


def test_options_are_the_fields_in_order_with_help_bounds_and_defaults():
    options = by_name()
    assert list(options) == ["stride", "rates", "decay", "name", "plain"]
    assert options["stride"] == Option("stride", int, 16, "output stride", None, None, (8, 16))
    assert options["plain"] == Option("plain", bool, False)
    assert options["plain"].range_text == ""
    defaults = {name: field.default for name, field in options.items()}
    assert defaults == dataclasses.asdict(Params())
    assert list(by_name("model"))[:2] == ["model.stride", "model.rates"]


def test_every_field_has_a_default_or_a_factory():
    @dataclasses.dataclass
    class Made:
        sizes: tuple[int, ...] = dataclasses.field(default_factory=lambda: (1, 2))

    @dataclasses.dataclass
    class Bare:
        depth: int

    assert declared_options(Made)[0].default == (1, 2)
    with pytest.raises(ConfigError, match="'depth' has no default"):
        declared_options(Bare)


POLICY = Option("policy", str, "fixed", choices=("fixed", "poly"))
COLOURS = Option("colours", tuple[str, ...], (), choices=("red", "green"))
BOUNDED = Option("x", float, 1.0, min=0.5, max=2)


@pytest.mark.parametrize(
    ("option", "raw", "value"),
    [
        (by_name()["stride"], "8", 8),
        (by_name()["stride"], 16, 16),
        (by_name()["rates"], "1,36", (1, 36)),
        (by_name()["rates"], [12], (12,)),
        (by_name()["rates"], "", ()),
        (by_name()["decay"], "none", None),
        (by_name()["decay"], "0", 0.0),
        (by_name()["name"], "resnet", "resnet"),
        (by_name()["plain"], "yes", True),
        (BOUNDED, "0.5", 0.5),
        (BOUNDED, "2", 2.0),
        (COLOURS, "red,green", ("red", "green")),
    ],
)
def test_a_value_within_bounds_is_taken(option, raw, value):
    assert option.parse(raw) == value


@pytest.mark.parametrize(
    ("option", "raw", "message"),
    [
        (
            by_name("model")["model.rates"],
            "6,37",
            "--model.rates: 37 is out of range; allowed: 1 to 36",
        ),
        (by_name()["decay"], "-0.1", "--decay: -0.1 is out of range; allowed: 0 or more"),
        (Option("x", int, 1, max=2), "3", "--x: 3 is out of range; allowed: 2 or less"),
        (
            POLICY,
            "fixd",
            "--policy: 'fixd' is not known; did you mean 'fixed'? allowed: fixed, poly",
        ),
        (by_name()["stride"], "4", "--stride: 4 is not known; allowed: 8, 16"),
        (
            COLOURS,
            "red,gren",
            "--colours: 'gren' is not known; did you mean 'green'? allowed: red, green",
        ),
        (by_name()["stride"], "big", "--stride: 'big' is not a whole number"),
    ],
)
def test_another_value_is_refused_with_those_that_are_allowed(option, raw, message):
    with pytest.raises(ConfigError) as error:
        option.parse(raw)
    assert str(error.value) == message
