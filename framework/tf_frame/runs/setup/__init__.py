"""The setup of a run: plugins with parameters, run options, model folder, context."""
