"""Opens the study of a sweep: its storage, sampler and pruner, all by name from Optuna."""

from __future__ import annotations

import contextlib
import os
import random
import time
import warnings
from collections.abc import Iterator
from typing import Any

import optuna
from optuna import pruners, samplers
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.file_lock import LockHeldError, file_lock
from tf_frame.text import listed, short
from tf_frame_sweep.plan import Plan
from tf_frame_sweep.space import grid

_JOURNAL = "study.journal"
_IDENTITY = "tf_frame_sweep"
_LOCK, _LOCK_SECS, _LOOK_SECS = "sweep.lock", 60.0, 0.02


def open_study(plan: Plan) -> optuna.Study:
    """Opens the study in the folder of a sweep, or in its storage; makes it if it is missing.

    Raises:
      ConfigError: the study is one of other runs, or the storage cannot be opened.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    try:
        study = optuna.create_study(
            storage=_storage(plan),
            study_name=os.path.basename(os.path.abspath(plan.folder)),
            direction="maximize" if plan.rises else "minimize",
            pruner=_pruner(plan),
            load_if_exists=True,
        )
    except Exception as error:  # Each storage has exceptions of its own.
        raise ConfigError(f"the study cannot be opened: {short(error)}") from error
    with sweep_lock(plan.folder):
        _prepare(study, plan)
    return study


@contextlib.contextmanager
def sweep_lock(folder: str) -> Iterator[None]:
    """Locks a sweep within the block, against other processes of this machine.

    Raises:
      TfFrameError: another process has held the lock for a minute.
    """
    until = time.monotonic() + _LOCK_SECS
    with contextlib.ExitStack() as stack:
        while True:
            try:
                stack.enter_context(file_lock(os.path.join(folder, _LOCK)))
                break
            except LockHeldError as error:
                if time.monotonic() > until:
                    raise TfFrameError(f"{error.holder} has locked {short(folder)}") from None
                time.sleep(_LOOK_SECS)
        yield


def _prepare(study: optuna.Study, plan: Plan) -> None:
    _check_identity(study, plan)
    if not study.get_trials(deepcopy=False) and (own := plan.own_choice()):
        # The options as they are come first: the best is never worse.
        study.enqueue_trial(own)
    if plan.params.sampler == "grid":
        _enqueue_grid(study, plan)


def _storage(plan: Plan) -> Any:
    if plan.params.storage:
        return plan.params.storage
    # Absolute: the lock of the file is a link, which would lead nowhere.
    path = os.path.join(os.path.abspath(plan.folder), _JOURNAL)
    return JournalStorage(JournalFileBackend(path))


def _check_identity(study: optuna.Study, plan: Plan) -> None:
    identity = plan.identity()
    before = study.user_attrs.get(_IDENTITY)
    if before is None:
        study.set_user_attr(_IDENTITY, identity)
        return
    changed = [name for name, value in identity.items() if before.get(name) != value]
    if changed:
        raise ConfigError(
            f"{short(plan.folder)} has another sweep, which differs in {listed(changed)}; give "
            "another --sweep_dir"
        )


def make_sampler(plan: Plan, number: int) -> samplers.BaseSampler:
    """Returns the sampler for a trial.

    Its seed depends on the number of the trial: a sweep that goes on in another process would
    draw the same numbers again.
    """
    seed = plan.params.sampler_seed * 1_000_003 + number
    if plan.params.sampler == "cma_es":
        try:
            return samplers.CmaEsSampler(seed=seed)
        except ImportError:
            raise TfFrameError(
                "--sampler cma_es needs cmaes, which is not installed: pip install "
                "'tf-frame-sweep[cma-es]'"
            ) from None
    if plan.params.sampler == "tpe":
        # Parallel trials do not know each other's values.
        return samplers.TPESampler(seed=seed, constant_liar=plan.params.parallel > 1)
    return samplers.RandomSampler(seed=seed)


def _pruner(plan: Plan) -> pruners.BasePruner:
    config = plan.setup.config
    if plan.params.pruner == "median":
        return pruners.MedianPruner()
    if plan.params.pruner == "hyperband":
        least = config.eval_every_n_steps or 1
        return pruners.HyperbandPruner(min_resource=least, max_resource=config.max_steps)
    return pruners.NopPruner()


def _enqueue_grid(study: optuna.Study, plan: Plan) -> None:
    """Adds all combinations, in an order that the seed of the sampler decides."""
    combinations = grid(plan.space)
    random.Random(plan.params.sampler_seed).shuffle(combinations)
    for values in combinations[: plan.params.trials]:
        study.enqueue_trial(values, skip_if_exists=True)
