"""`--hook csv`, `mlflow` and `wandb`; the packages are only in `tox -e loggers`."""

import importlib
import json
import struct

import pytest

from tf_frame import HookContext
from tf_frame.config.option import resolve
from tf_frame.errors import ConfigError
from tf_frame.hooks.by_name import logger_plugins as named_loggers
from tf_frame.hooks.metrics_log import EVAL, TRAIN, MetricsLog
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import HOOK

PLUGINS = {"csv": "Csv", "mlflow": "MLflow", "wandb": "Wandb"}


@pytest.fixture
def log(tmp_path):
    """Logs two rows by a plugin with options, as a run does; may be called again to resume."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.yaml").write_text("model: {name: toy}\nmax_steps: 7\n")

    def log(name, *, task=0, first_step=0, **values):
        cls = getattr(named_loggers, PLUGINS[name])
        metrics = MetricsLog(report=pytest.fail)
        made = cls(params=resolve(cls.Params, [values]))(
            HookContext(
                model_dir=str(folder),
                is_chief=task == 0,
                task=task,
                max_steps=7,
                examples_per_step=8,
                graph=None,
                report=print,
                first_step=first_step,
                metrics=metrics,
            )
        )
        assert made == []
        metrics.write(TRAIN, first_step + 5, {"loss": 0.5})
        metrics.write(EVAL, first_step + 5, {"accuracy": 0.75})
        metrics.close()
        return folder

    return log


def test_the_plugins_are_registered():
    registered = {info.name: info.target for info in find_plugins() if info.kind == HOOK}
    for name, cls in PLUGINS.items():
        assert registered[name] == f"tf_frame.hooks.by_name.logger_plugins:{cls}"


def test_csv_writes_the_rows_to_another_file(log, tmp_path):
    path = tmp_path / "figures.csv"
    log("csv", path=str(path))
    header, first, second = path.read_text().splitlines()
    assert header == "step,split,time,loss,accuracy"
    assert (first[:8], second[:7]) == ("5,train,", "5,eval,")


def test_csv_without_a_file_is_refused():
    with pytest.raises(ConfigError, match="csv: no file is named; give csv:PATH"):
        named_loggers.Csv(params=resolve(named_loggers.Csv.Params, [{}]))


@pytest.mark.parametrize("name", PLUGINS)
def test_only_the_chief_logs(log, name, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: True)
    log(name, task=1, **({"path": str(tmp_path / "x.csv")} if name == "csv" else {}))
    assert not (tmp_path / "x.csv").exists() and not (tmp_path / "run" / f"{name}.run").exists()


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_a_package_that_is_missing_is_named_before_anything_else(name, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    cls = getattr(named_loggers, PLUGINS[name])
    with pytest.raises(ConfigError) as raised:
        cls(params=cls.Params())
    assert str(raised.value) == (
        f"--hook {name} needs {name}, which is not installed: pip install 'tf-frame[{name}]'"
    )


@pytest.mark.loggers
def test_mlflow_has_the_figures_of_a_run_and_its_continuation(log, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file://{tmp_path}/records")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    folder = log("mlflow", experiment="toys")
    log("mlflow", experiment="toys", first_step=5)
    client = importlib.import_module("mlflow").MlflowClient()
    run_id = (folder / "mlflow.run").read_text().strip()
    history = client.get_metric_history(run_id, "train/loss")
    assert [(each.step, each.value) for each in history] == [(5, 0.5), (10, 0.5)]
    assert [m.step for m in client.get_metric_history(run_id, "eval/accuracy")] == [5, 10]
    run = client.get_run(run_id)
    assert run.info.run_name == "run" and run.info.status == "FINISHED"
    assert client.get_experiment(run.info.experiment_id).name == "toys"
    assert [each.path for each in client.list_artifacts(run_id)] == ["config.yaml"]


@pytest.mark.loggers
def test_an_error_of_mlflow_is_one_line(log, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "nosuch://place")
    with pytest.raises(ConfigError, match="^--hook mlflow cannot start a run: .*nosuch"):
        log("mlflow")


@pytest.mark.loggers
def test_wandb_has_the_figures_of_a_run_and_its_continuation(log):
    folder = log("wandb", mode="offline", project="toys")
    log("wandb", mode="offline", project="toys", first_step=5)
    importlib.import_module("wandb").teardown()  # Waits for the process that writes.
    run_id = (folder / "wandb.run").read_text().strip()
    stores = sorted((folder / "wandb").glob(f"offline-run-*-{run_id}/run-{run_id}.wandb"))
    assert len(stores) == 2
    records = [_records(path) for path in stores]
    for (step, config), first_step in zip(records, (0, 5), strict=True):
        assert step == [first_step + 5]
        assert config["max_steps"] == 7


def _records(path):
    """The steps with figures, and the configuration, of a file of wandb's offline mode."""
    record = importlib.import_module("wandb.proto.wandb_internal_pb2").Record
    steps, config = set(), {}
    for data in _log_records(path.read_bytes()):
        each = record.FromString(data)
        values = {"/".join(i.nested_key) or i.key: i.value_json for i in each.history.item}
        if "train/loss" in values:
            steps.add(json.loads(values["_step"]))
        for item in each.config.update:
            config[item.key] = json.loads(item.value_json)
    return sorted(steps), config


def _log_records(data):
    """Yields the records of a LevelDB log whose first 7 bytes are a header of wandb's."""
    at, record, block = 7, b"", 32768
    while at + 7 <= len(data):
        if block - at % block < 7:  # The end of a block has no room for a header.
            at += block - at % block
            continue
        length, kind = struct.unpack_from("<HB", data, at + 4)
        record += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # A whole record, or its last part.
            yield record
            record = b""
