"""Arguments that functions take by name."""

import functools

import pytest

from tf_frame.estimator.argument_checks import argument_names, called_with


def plain(features, labels=None, *, mode, **others):
    return features, labels, mode, others


class WithCall:
    def __call__(self, features, mode):
        return features, mode

    def method(self, features, params):
        return features, params


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (plain, ("features", "labels", "mode")),
        (WithCall(), ("features", "mode")),
        (WithCall().method, ("features", "params")),
        (functools.partial(plain, "f"), ("labels", "mode")),
        (functools.partial(plain, labels=1), ("features", "mode")),
        (functools.partial(functools.partial(plain, "f"), mode="x"), ("labels",)),
        (lambda: None, ()),
    ],
)
def test_the_names_are_those_that_can_still_be_given(function, names):
    assert argument_names(function) == names


def test_a_function_gets_what_it_takes_and_no_more():
    assert called_with(plain, features=1, mode="train", params={}) == (1, None, "train", {})
    assert called_with(lambda: 7, features=1) == 7
