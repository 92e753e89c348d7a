"""The model `classification`: losses, predictions, metrics, presets."""
