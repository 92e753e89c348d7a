import json

import pytest

from tf_frame_legacy.training import HParams, parse_values


def hparams():
    return HParams(rate=0.1, layers=[64, 32], name="net", train=True, steps=10, none=None)


def test_values_are_attributes():
    params = hparams()
    params.add_hparam("more", (1, 2))
    assert (params.rate, params.layers, params.name, params.more) == (0.1, [64, 32], "net", (1, 2))
    assert list(params.values()) == ["rate", "layers", "name", "train", "steps", "none", "more"]
    assert "rate" in params
    assert "other" not in params
    params.del_hparam("rate")
    params.del_hparam("rate")
    assert "rate" not in params
    assert not hasattr(params, "rate")
    few = HParams(b=1, a=[2])
    assert str(few) == "b=1,a=[2]"
    assert repr(few) == "HParams([('a', [2]), ('b', 1)])"
    assert HParams(b=2, a=[3]).parse(str(few)).values() == few.values()


def test_parse():
    params = hparams().parse("rate=1,layers=[8, 4,2],name=other,train=false,steps=-3")
    assert params.values() == {
        "rate": 1.0,
        "layers": [8, 4, 2],
        "name": "other",
        "train": False,
        "steps": -3,
        "none": None,
    }
    assert isinstance(params.rate, float)
    assert hparams().parse("").values() == hparams().values()
    assert hparams().parse("train=0").train is False
    assert hparams().parse("rate = 1e-3").rate == 1e-3


def test_json_and_dictionaries():
    params = hparams().parse_json('{"rate": 2, "layers": [1]}')
    assert (params.rate, params.layers) == (2.0, [1])
    assert params.override_from_dict({"steps": 5}) is params
    assert params.set_from_map({"steps": 6}).steps == 6
    assert json.loads(params.to_json()) == params.values()
    assert json.loads(HParams(function=len, several=[len]).to_json()) == {
        "function": "len",
        "several": ["len"],
    }
    assert params.to_json(sort_keys=True, separators=(",", ":")).startswith('{"layers":[1],"name":')


def test_get():
    params = hparams()
    assert params.get("rate") == 0.1
    assert params.get("rate", 3) == 0.1
    assert params.get("other") is None
    assert params.get("other", 3) == 3
    for key, default in (("rate", "text"), ("rate", [1.0]), ("layers", 1), ("layers", ["a"])):
        with pytest.raises(ValueError, match=f"Hparam '{key}'"):
            params.get(key, default)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("steps=1.5", "Could not parse hparam 'steps' of type 'int' with value '1.5'"),
        ("train=maybe", "Could not parse hparam 'train'"),
        ("layers=[1,a]", "with value 'a'"),
        ("layers=3", "Must pass a list for multi-valued parameter: layers"),
        ("steps=[3]", "Must not pass a list for single-valued parameter: steps"),
        ("steps", "Malformed hyperparameter value: steps"),
        ("steps=1 layers=[1]", "."),
        ("other=1", "Unknown hyperparameter type for other"),
        ("steps=1,steps=2", "Multiple assignments to variable 'steps'"),
        ("none=1", "Could not parse hparam 'none'"),
        # As of old: only `parse_values` knows indices.
        ("layers[0]=5", "Must pass a list for multi-valued parameter: layers"),
    ],
)
def test_malformed_texts(text, error):
    with pytest.raises(ValueError, match=error):
        hparams().parse(text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", 1.5),
        ("steps", True),
        ("steps", len),
        ("train", 1),
        ("rate", "1"),
        ("name", 3),
        ("layers", [1.5]),
    ],
)
def test_a_value_of_another_type_is_refused(name, value):
    with pytest.raises(ValueError, match=f"Could not cast hparam '{name}'"):
        hparams().set_hparam(name, value)


def test_a_function_may_become_another_callable():
    params = HParams(function=len)
    params.set_hparam("function", sorted)
    params.set_hparam("function", str)
    assert params.function is str


def test_mistakes_of_names():
    with pytest.raises(ValueError, match="reserved: parse"):
        HParams(parse=1)
    with pytest.raises(ValueError, match="cannot be empty: layers"):
        HParams(layers=[])
    with pytest.raises(KeyError):
        hparams().set_hparam("other", 1)
    with pytest.raises(ValueError, match="parse_json"):
        HParams(hparam_def=object())


def test_parse_values():
    types = {"a": int, "b": str}
    assert parse_values("a[0]=3, a[2]=4,b=[x y]", types) == {"a": {0: 3, 2: 4}, "b": ["x", "y"]}
    assert parse_values("c=1,a=2", types, ignore_unknown=True) == {"a": 2}
    for text in ("a=1,a[0]=2", "a[0]=1,a[0]=2", "a[0]=[1]"):
        with pytest.raises(ValueError, match="Multiple assignments|Assignment of a list"):
            parse_values(text, types)
