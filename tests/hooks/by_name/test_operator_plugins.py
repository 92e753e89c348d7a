"""`--hook prometheus` and `opentelemetry`, in runs of the toy model."""

import dataclasses
import http.server
import json
import re
import threading
import urllib.request

import pytest

from tf_frame.errors import ConfigError
from tf_frame.hooks.background_writer import wait_for_background_writer
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.by_name.operator_plugins import OpenTelemetry, Prometheus
from tf_frame.hooks.cadence import Cadence
from tf_frame.plugin import HookPlugin
from tf_frame.plugin.kinds import HOOK
from tf_frame.testing.toy import (
    ToyInput,
    ToyModel,
    configured_plugin,
    installed_plugin,
    make_setup,
    run_setup,
)

PLUGINS = {"prometheus": Prometheus, "opentelemetry": OpenTelemetry}


class Scraping(HookPlugin):
    """Reads the page of figures after step 7, as Prometheus does."""

    seen = ""

    def __call__(self, context):
        return _Scrape(Cadence(at_steps=[7]))


class _Scrape(Hook):
    phase = Phase.STOP
    lines = ()

    def after_step(self, run_context, run_values, step):
        wait_for_background_writer()
        Scraping.seen = urllib.request.urlopen(_url(_Scrape.lines), timeout=10).read().decode()


def _url(lines):
    (line,) = [line for line in lines if line.startswith("figures for Prometheus: ")]
    return line.rpartition(" ")[2]


@pytest.fixture
def run(tmp_path):
    """Runs the toy model with one of the hooks; returns the lines that the user sees."""

    def run(name, *others, max_steps=9, **values):
        lines = _Scrape.lines = []
        setup = make_setup(
            ToyModel,
            ToyInput,
            str(tmp_path),
            max_steps=max_steps,
            save_checkpoint_steps=4,
            save_checkpoint_secs=None,
            eval_every_n_steps=4,
            log_every_n_steps=2,
        )
        hook = installed_plugin(HOOK, name, {f"h.{key}": v for key, v in values.items()}, "h")
        others = [configured_plugin(HOOK, cls.__name__, cls, {}, "o") for cls in others]
        run_setup(dataclasses.replace(setup, hooks=[hook, *others]), report=lines.append)
        return lines

    return run


def figures(page):
    """Returns name with labels -> value."""
    return dict(re.findall(r"^(tf_frame_\S+) (\S+)$", page, re.MULTILINE))


def test_prometheus_reads_the_figures_of_a_run_until_its_end(run, tmp_path):
    pytest.importorskip("prometheus_client")
    lines = run("prometheus", Scraping, port=0)
    page = figures(Scraping.seen)
    assert page['tf_frame_max_steps{task="chief-0"}'] == "9.0"
    assert 1 <= float(page['tf_frame_step{task="chief-0"}']) <= 7
    assert float(page['tf_frame_heartbeat_timestamp_seconds{task="chief-0"}']) > 1e9
    assert float(page['tf_frame_train{name="loss"}']) > 0
    assert 'tf_frame_evaluation{name="loss"}' in page
    # Of steps 0 and 4.
    assert (page["tf_frame_saves_total"], page["tf_frame_restarts_total"]) == ("2.0", "0.0")
    assert _url(lines).startswith("http://127.0.0.1:")
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(_url(lines), timeout=10)
    run("prometheus", port=0, max_steps=12)
    assert json.loads((tmp_path / "starts.json").read_text()) == {"starts": 2}


def test_restarts_are_counted_and_a_damaged_count_is_kept_aside(run, tmp_path):
    pytest.importorskip("prometheus_client")
    (tmp_path / "starts.json").write_text('{"starts": 3}')
    run("prometheus", Scraping, port=0)
    assert figures(Scraping.seen)["tf_frame_restarts_total"] == "3.0"
    (tmp_path / "starts.json").write_text('{"starts": "many"}')
    lines = run("prometheus", port=0, max_steps=12)
    assert (tmp_path / "starts.json.damaged").exists()
    assert any("starts.json is damaged: starts is 'many'" in line for line in lines)


def test_a_port_that_is_in_use_is_refused_before_the_first_step(run, tmp_path):
    pytest.importorskip("prometheus_client")
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        port = server.server_port
        refused = f"--hook prometheus cannot listen on 127.0.0.1:{port}: Address already in use"
        with pytest.raises(ConfigError, match=refused):
            run("prometheus", port=port)
    assert not (tmp_path / "result.json").exists()


class Collector(http.server.BaseHTTPRequestHandler):
    """A collector of OpenTelemetry that keeps the reports."""

    def do_POST(self):
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def collector():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        server.bodies = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_opentelemetry_gets_the_figures_at_the_end_at_the_latest(run, collector):
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
        ExportMetricsServiceRequest,
    )

    run("opentelemetry", endpoint=f"http://127.0.0.1:{collector.server_port}/v1/metrics")
    request = ExportMetricsServiceRequest.FromString(collector.bodies[-1])
    (resource,) = request.resource_metrics
    metrics = {metric.name: metric for metric in resource.scope_metrics[0].metrics}
    (step,) = metrics["tf_frame.step"].gauge.data_points
    assert (step.as_double, step.attributes[0].value.string_value) == (9.0, "chief-0")
    (saves,) = metrics["tf_frame.saves"].sum.data_points
    assert saves.as_double == 4.0  # Of steps 0, 4, 8 and 9.
    names = {
        point.attributes[0].value.string_value
        for point in metrics["tf_frame.train"].gauge.data_points
    }
    assert {"loss", "learning_rate"} <= names


@pytest.mark.parametrize("name", PLUGINS)
def test_only_the_chief_serves_figures(name):
    pytest.importorskip("prometheus_client" if name == "prometheus" else "opentelemetry.sdk")
    cls = PLUGINS[name]

    class Worker:
        is_chief = False

    assert cls(params=cls.Params())(Worker) == []


@pytest.mark.parametrize("name", PLUGINS)
def test_a_package_that_is_missing_is_named(name, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=f"--hook {name} needs .*pip install 'tf-frame.{name}.'"):
        PLUGINS[name](params=PLUGINS[name].Params())
