"""The monitored session and the training loop."""
