import inspect
import threading

import pytest

from tf_frame import layers
from tf_frame.layers import add_arg_scope, arg_scope


@add_arg_scope
def one(*args, **kwargs):
    """Returns its arguments."""
    return args, kwargs


@add_arg_scope
def two(first, second=1, *, third=(2,)):
    """Three values."""
    return first, second, third


def plain(value=0):
    return value


def test_defaults_hold_inside_only_and_arguments_win():
    with arg_scope([one, two], second=5):
        assert one(1) == ((1,), {"second": 5})
        assert two(0) == (0, 5, (2,))
    with arg_scope((one, two), second=5, third=7):
        assert two(0, third=8) == (0, 5, 8)
        assert one(second=None) == ((), {"second": None, "third": 7})
    with pytest.raises(RuntimeError), arg_scope([one], a=1):
        raise RuntimeError
    assert one(1) == ((1,), {})
    assert two(0) == (0, 1, (2,))


def test_nested_scopes_add_up_and_the_inner_one_wins():
    with arg_scope([one], a=1, b=2), arg_scope([one, two], b=3, third=None):
        assert one() == ((), {"a": 1, "b": 3, "third": None})
        with arg_scope([one], a=4):
            assert one() == ((), {"a": 4, "b": 3, "third": None})
        assert one()[1]["a"] == 1
        with arg_scope([]):
            assert one()[1]["a"] == 1


def test_a_kept_scope_replaces_what_stands_around_it():
    with arg_scope([one], a=1), arg_scope([two], second=2) as kept:
        pass
    with arg_scope([one], a=9, b=9):
        with arg_scope(kept):
            assert one() == ((), {"a": 1})
            assert two(0) == (0, 2, (2,))
            with arg_scope([one], b=3):
                assert one() == ((), {"a": 1, "b": 3})
        assert one() == ((), {"a": 9, "b": 9})
        with arg_scope({}):
            assert one() == ((), {})
    assert kept == {
        layers.arg_scope_func_key(one): {"a": 1},
        layers.arg_scope_func_key(two): {"second": 2},
    }


def test_what_is_set_does_not_change_with_the_callers_dictionary():
    defaults = {"a": 1}
    with arg_scope([one], **defaults) as scope:
        assert layers.current_arg_scope() is scope
        with arg_scope([one], a=2):
            pass
        assert scope[layers.arg_scope_func_key(one)] == {"a": 1}
    assert layers.current_arg_scope() == {}


def test_another_thread_has_its_own_scopes():
    found = []
    with arg_scope([one], a=1):
        thread = threading.Thread(target=lambda: found.append(one()))
        thread.start()
        thread.join()
    assert found == [((), {})]


def test_names_signature_and_documentation_stay():
    assert (two.__name__, two.__doc__) == ("two", "Three values.")
    assert list(inspect.signature(two).parameters) == ["first", "second", "third"]
    assert layers.has_arg_scope(two)
    assert not layers.has_arg_scope(plain)
    assert layers.arg_scoped_arguments(two) == ("second", "third")
    assert layers.arg_scoped_arguments(layers.bias_add)[:2] == ("activation_fn", "initializer")


def test_functions_of_one_name_are_told_apart():
    def made(value):
        def inner(a=value):
            return a

        return inner

    first, second = add_arg_scope(made(1)), add_arg_scope(made(2))
    with arg_scope([first], a=5):
        assert (first(), second()) == (5, 2)
    # A key is not given away with the memory of a function.
    keys = [layers.arg_scope_func_key(add_arg_scope(made(1))) for _ in range(20)]
    assert len(set(keys)) == 20
    assert not any(layers.has_arg_scope(made(1)) for _ in range(20))


def test_what_does_not_fit_is_refused():
    with pytest.raises(TypeError, match="list_ops_or_scope must either be a list/tuple or reused"):
        arg_scope(one, a=1).__enter__()
    with pytest.raises(ValueError, match=r"\('.*', 'plain'\) is not decorated with @add_arg_scope"):
        arg_scope([one, plain], a=1).__enter__()
    with pytest.raises(ValueError, match="kwargs must be empty; found a, b"):
        arg_scope({}, a=1, b=2).__enter__()
    with pytest.raises(ValueError, match="'plain'.* is not decorated"):
        layers.arg_scoped_arguments(plain)
    assert one() == ((), {})
    with pytest.raises(TypeError, match="unknown"), arg_scope([two], unknown=1):
        two(0)
