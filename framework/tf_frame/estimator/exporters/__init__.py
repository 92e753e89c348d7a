"""Exporters, which write SavedModels of evaluated checkpoints during `train_and_evaluate`."""

from tf_frame.estimator.exporters.best import BestExporter
from tf_frame.estimator.exporters.exporter import Exporter, FinalExporter, LatestExporter

__all__ = ["BestExporter", "Exporter", "FinalExporter", "LatestExporter"]
