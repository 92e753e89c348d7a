"""Plugins for `--hook prometheus` and `opentelemetry`: figures of a run for its operators.

    --hook prometheus:9464
    --hook opentelemetry:http://collector:4318/v1/metrics

Both need a package: `pip install tf-frame[prometheus]` or `tf-frame[opentelemetry]`. The chief has
the figures of all tasks of its job.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from tf_frame.config import option
from tf_frame.errors import ConfigError
from tf_frame.optional_packages import require_packages
from tf_frame.plugin.training_contracts import HookContext, HookPlugin

_SHUTDOWN_MS = 5000


class _OperatorPlugin(HookPlugin):
    """Makes the hook of the chief that serves figures."""

    def __call__(self, context: HookContext) -> Any:
        if not context.is_chief:
            return []
        from tf_frame.hooks.by_name.operator_metrics import (
            CountSaves,
            OperatorMetrics,
            OperatorMetricsHook,
        )

        metrics = OperatorMetrics(context.model_dir)
        context.metrics.add(metrics)
        serve = functools.partial(self.serve, report=context.report)
        hook = OperatorMetricsHook(context.model_dir, metrics, serve=serve, report=context.report)
        return [hook, CountSaves(metrics)]

    def serve(self, metrics: Any, report: Callable[[str], None]) -> Callable[[], None]:
        """Begins to serve figures; returns a function that ends it."""
        raise NotImplementedError(f"{type(self).__name__} does not define serve()")


class Prometheus(_OperatorPlugin):
    """Serves the figures of the run at http://ADDRESS:PORT/metrics, for Prometheus.

    Raises:
      ConfigError: prometheus_client is not installed, or the port cannot be used.
    """

    check_options: ClassVar[Mapping[str, Any]] = {"port": 0}

    @dataclasses.dataclass(frozen=True)
    class Params:
        port: int = option(
            9464, "port of the chief; 0: any that is free, which is printed", min=0, max=65535
        )
        address: str = option(
            "127.0.0.1",
            "address to listen on; another one than this machine's own lets everybody read who "
            "reaches it",
        )

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        require_packages("--hook prometheus", "prometheus_client", install="'tf-frame[prometheus]'")

    def serve(self, metrics: Any, report: Callable[[str], None]) -> Callable[[], None]:
        from prometheus_client import CollectorRegistry, start_http_server

        registry, address = CollectorRegistry(), self.params.address
        registry.register(_Collector(metrics))
        try:
            server, thread = start_http_server(self.params.port, address, registry)
        except OSError as error:
            raise ConfigError(
                f"--hook prometheus cannot listen on {address}:{self.params.port}: "
                f"{error.strerror or error}; give another port, such as prometheus:9465, or "
                "another --hook.prometheus.address"
            ) from None
        host = f"[{address}]" if ":" in address else address
        report(f"figures for Prometheus: http://{host}:{server.server_port}/metrics")

        def end() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return end


class _Collector:
    """Collects the figures whenever Prometheus asks."""

    def __init__(self, metrics: Any) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        from tf_frame.hooks.by_name.operator_metrics import COUNTERS, FIGURES

        for name, text in FIGURES.items():
            points = list(self._metrics.points(name))
            labels = list(points[0][0]) if points else []
            family = CounterMetricFamily if name in COUNTERS else GaugeMetricFamily
            collected = family(f"tf_frame_{name}", text, labels=labels)
            for values, value in points:
                collected.add_metric(list(values.values()), value)
            yield collected


class OpenTelemetry(_OperatorPlugin):
    """Sends the figures of the run to a collector, by OTLP over HTTP.

    Raises:
      ConfigError: the packages of OpenTelemetry are not installed.
    """

    check_options: ClassVar[Mapping[str, Any]] = {"endpoint": "http://127.0.0.1:9/v1/metrics"}

    @dataclasses.dataclass(frozen=True)
    class Params:
        endpoint: str = option(
            "", "URL of the collector; empty: as OTEL_EXPORTER_OTLP_ENDPOINT says"
        )
        every_secs: float = option(15.0, "seconds between two reports", min=0.1)

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        require_packages(
            "--hook opentelemetry",
            "opentelemetry.sdk",
            "opentelemetry.exporter.otlp.proto.http",
            install="'tf-frame[opentelemetry]'",
        )

    def serve(self, metrics: Any, report: Callable[[str], None]) -> Callable[[], None]:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource

        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(self.params.endpoint or None),
            export_interval_millis=1000 * self.params.every_secs,
        )
        resource = Resource.create({"service.name": "tf-frame"})
        provider = MeterProvider([reader], resource=resource)
        _observe(provider.get_meter("tf_frame"), metrics)
        return functools.partial(provider.shutdown, timeout_millis=_SHUTDOWN_MS)


def _observe(meter: Any, metrics: Any) -> None:
    """Makes an instrument for each figure."""
    from opentelemetry.metrics import Observation

    from tf_frame.hooks.by_name.operator_metrics import COUNTERS, FIGURES

    def observations(name: str, options: Any) -> list[Any]:
        return [Observation(value, labels) for labels, value in metrics.points(name)]

    for name, text in FIGURES.items():
        is_counter = name in COUNTERS
        create = meter.create_observable_counter if is_counter else meter.create_observable_gauge
        callbacks = [functools.partial(observations, name)]
        create(f"tf_frame.{name}", callbacks=callbacks, description=text)
