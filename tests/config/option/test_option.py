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
    return {one.name: one for one in declared_options(Params, prefix)}


def test_options_are_read_in_the_order_of_the_fields():
    assert list(by_name()) == ["stride", "rates", "decay", "name", "plain"]


def test_an_option_knows_what_its_field_says():
    expected = Option("stride", int, 16, "output stride", None, None, (8, 16))
    assert by_name()["stride"] == expected


def test_an_option_may_require_another_or_one_of_several():
    @dataclasses.dataclass
    class Tracing:
        every: int = option(0, "steps")
        gzip: bool = option(False, "compress", requires="every")
        memory: bool = option(False, "memory", requires=("every", "gzip"))

    assert [one.requires for one in declared_options(Tracing)] == [
        (),
        ("every",),
        ("every", "gzip"),
    ]


def test_a_field_without_option_is_an_option_without_help():
    assert by_name()["plain"] == Option("plain", bool, False)


def test_the_prefix_is_put_before_each_name_with_a_dot():
    assert list(by_name("model"))[:2] == ["model.stride", "model.rates"]


def test_the_defaults_of_the_dataclass_are_the_defaults_of_its_options():
    defaults = {name: one.default for name, one in by_name().items()}
    assert defaults == dataclasses.asdict(Params())


def test_a_default_factory_is_called():
    @dataclasses.dataclass
    class Made:
        sizes: tuple[int, ...] = dataclasses.field(default_factory=lambda: (1, 2))

    assert declared_options(Made)[0].default == (1, 2)


def test_a_field_without_default_is_an_error_that_names_it():
    @dataclasses.dataclass
    class Bare:
        depth: int

    with pytest.raises(ConfigError, match="'depth' has no default"):
        declared_options(Bare)


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("stride", "8", 8),
        ("stride", 16, 16),
        ("rates", "1,36", (1, 36)),
        ("rates", [12], (12,)),
        ("rates", "", ()),
        ("decay", "none", None),
        ("decay", "0", 0.0),
        ("name", "resnet", "resnet"),
        ("plain", "yes", True),
    ],
)
def test_a_value_within_bounds_is_taken(name, raw, value):
    assert by_name()[name].parse(raw) == value


def test_a_value_out_of_a_range_is_answered_with_the_range():
    with pytest.raises(ConfigError) as error:
        by_name("model")["model.rates"].parse("6,37")
    assert str(error.value) == "--model.rates: 37 is out of range; allowed: 1 to 36"


def test_a_value_below_the_minimum_is_answered_with_the_minimum():
    with pytest.raises(ConfigError, match=r"^--decay: -0.1 is out of range; allowed: 0 or more$"):
        by_name()["decay"].parse("-0.1")


def test_a_value_above_the_maximum_is_answered_with_the_maximum():
    with pytest.raises(ConfigError, match=r"3 is out of range; allowed: 2 or less$"):
        Option("x", int, 1, max=2).parse("3")


def test_bounds_are_inclusive():
    bounded = Option("x", float, 1.0, min=0.5, max=2)
    assert [bounded.parse(raw) for raw in ("0.5", "2")] == [0.5, 2.0]


def test_a_wrong_choice_is_answered_with_the_nearest_and_all():
    policy = Option("policy", str, "fixed", choices=("fixed", "poly"))
    with pytest.raises(ConfigError) as error:
        policy.parse("fixd")
    expected = "--policy: 'fixd' is not known; did you mean 'fixed'? allowed: fixed, poly"
    assert str(error.value) == expected


def test_a_choice_near_to_none_is_answered_with_all():
    with pytest.raises(ConfigError, match=r"^--stride: 4 is not known; allowed: 8, 16$"):
        by_name()["stride"].parse("4")


def test_choices_hold_for_each_item_of_a_tuple():
    colours = Option("colours", tuple[str, ...], (), choices=("red", "green"))
    assert colours.parse("red,green") == ("red", "green")
    with pytest.raises(ConfigError, match="'gren' is not known; did you mean 'green'"):
        colours.parse("red,gren")


def test_a_value_of_the_wrong_type_names_option_and_value():
    with pytest.raises(ConfigError, match=r"^--stride: 'big' is not a whole number$"):
        by_name()["stride"].parse("big")


def test_a_range_without_bounds_has_no_text():
    assert Option("x", int, 1).range_text == ""


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
