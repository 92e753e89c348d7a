import pytest

from tf_frame.runs.evaluation.evaluator import EvaluatorCache


class FakeEvaluator:
    """Counts how often it is closed."""

    closed = 0

    def close(self):
        self.closed += 1


def test_an_evaluator_is_kept_for_its_name_and_key():
    kept = EvaluatorCache()
    first, second = kept.get("a", 1, FakeEvaluator), kept.get("b", 1, FakeEvaluator)
    assert kept.get("a", 1, FakeEvaluator) is first is not second
    assert kept.get("b", 1, FakeEvaluator) is second
    assert (first.closed, second.closed) == (0, 0)


def test_for_another_key_it_is_closed_before_another_is_made():
    kept = EvaluatorCache()
    first = kept.get("a", 1, FakeEvaluator)
    seen = []

    def make():
        seen.append(first.closed)
        return FakeEvaluator()

    second = kept.get("a", 2, make)
    assert (seen, second.closed) == ([1], 0)
    assert kept.get("a", 2, FakeEvaluator) is second


def test_one_that_cannot_be_made_leaves_none():
    kept = EvaluatorCache()
    first = kept.get("a", 1, FakeEvaluator)
    with pytest.raises(ZeroDivisionError):
        kept.get("a", 2, lambda: 1 // 0)
    assert kept.get("a", 1, FakeEvaluator) is not first
    assert first.closed == 1


def test_all_are_closed_at_the_end():
    kept = EvaluatorCache()
    made = [kept.get(name, 1, FakeEvaluator) for name in "ab"]
    kept.close()
    assert [each.closed for each in made] == [1, 1]
    kept.close()
    assert kept.get("a", 1, FakeEvaluator) not in made
