import pytest

from tf_frame.runs.evaluation.evaluator import EvaluatorCache


class FakeEvaluator:
    """Counts how often it is closed."""

    closed = 0

    def close(self):
        self.closed += 1


def test_an_evaluator_is_kept_for_its_name_and_key_and_closed_before_another_is_made():
    cache = EvaluatorCache()
    first, other_name = cache.get("a", 1, FakeEvaluator), cache.get("b", 1, FakeEvaluator)
    assert cache.get("a", 1, FakeEvaluator) is first is not other_name
    assert cache.get("b", 1, FakeEvaluator) is other_name
    closed_before = []

    def make():
        closed_before.append(first.closed)
        return FakeEvaluator()

    second = cache.get("a", 2, make)
    assert (closed_before, second.closed, other_name.closed) == ([1], 0, 0)
    assert cache.get("a", 2, FakeEvaluator) is second
    with pytest.raises(ZeroDivisionError):
        cache.get("a", 3, lambda: 1 // 0)
    assert cache.get("a", 2, FakeEvaluator) is not second
    assert (first.closed, second.closed) == (1, 1)


def test_all_are_closed_at_the_end():
    cache = EvaluatorCache()
    evaluators = [cache.get(name, 1, FakeEvaluator) for name in "ab"]
    cache.close()
    assert [evaluator.closed for evaluator in evaluators] == [1, 1]
    cache.close()
    assert cache.get("a", 1, FakeEvaluator) not in evaluators
