"""Exporters: they write SavedModels of evaluated checkpoints during `train_and_evaluate`."""

from tf_frame.estimator.exporters.best import BestExporter
from tf_frame.estimator.exporters.exporter import Exporter
from tf_frame.estimator.exporters.final import FinalExporter
from tf_frame.estimator.exporters.latest import LatestExporter

__all__ = ["BestExporter", "Exporter", "FinalExporter", "LatestExporter"]
