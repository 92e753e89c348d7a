"""Arguments and classes of scikit-learn that are gone.

The functions import it, because the table of names is checked without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def make_scorer(
    score_func: Any,
    *,
    greater_is_better: bool = True,
    needs_proba: bool = False,
    needs_threshold: bool = False,
    **options: Any,
) -> Any:
    """Returns a scorer; two arguments stand for `response_method`."""
    from sklearn import metrics

    if needs_proba:
        options["response_method"] = "predict_proba"
    if needs_threshold:
        options["response_method"] = ("decision_function", "predict_proba")
    return metrics.make_scorer(score_func, greater_is_better=greater_is_better, **options)


def OneHotEncoder(*, sparse: bool = True, n_values: Any = None, **options: Any) -> Any:
    """Returns an encoder; `sparse` is `sparse_output`, and `n_values` follows from the data."""
    from sklearn import preprocessing

    del n_values
    return preprocessing.OneHotEncoder(**{"sparse_output": sparse, **options})


def TSNE(*arguments: Any, **options: Any) -> Any:
    """Returns an embedding; `n_iter` is `max_iter`."""
    from sklearn import manifold

    if "n_iter" in options:
        options["max_iter"] = options.pop("n_iter")
    return manifold.TSNE(*arguments, **options)


class _Folds:
    """Pairs of indices, for training and testing, of the modules before `model_selection`."""

    def __init__(self, labels: Any, folds: Any, groups: Any = None) -> None:
        self._labels, self._folds, self._groups = labels, folds, groups

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self._folds.split(self._labels, self._labels, self._groups))

    def __len__(self) -> int:
        return int(self._folds.get_n_splits(self._labels, self._labels, self._groups))


def KFold(n: int, n_folds: int = 3, shuffle: bool = False, random_state: Any = None) -> _Folds:
    """Returns the folds of `n` examples."""
    from sklearn import model_selection

    folds = model_selection.KFold(n_folds, shuffle=shuffle, random_state=random_state)
    return _Folds(range(n), folds)


def StratifiedKFold(
    y: Any, n_folds: int = 3, shuffle: bool = False, random_state: Any = None
) -> _Folds:
    """Returns folds with the same shares of the classes."""
    from sklearn import model_selection

    folds = model_selection.StratifiedKFold(n_folds, shuffle=shuffle, random_state=random_state)
    return _Folds(y, folds)


def ShuffleSplit(
    n: int,
    n_iter: int = 10,
    test_size: Any = 0.1,
    train_size: Any = None,
    random_state: Any = None,
) -> _Folds:
    """Returns random splits of `n` examples."""
    from sklearn import model_selection

    splits = model_selection.ShuffleSplit(
        n_iter, test_size=test_size, train_size=train_size, random_state=random_state
    )
    return _Folds(range(n), splits)
