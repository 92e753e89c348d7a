"""Pictures of predictions: colours of classes, overlays, PNG files; all without TensorFlow."""
