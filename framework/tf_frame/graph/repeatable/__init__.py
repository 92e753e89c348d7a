"""Random operations and session state that a resumed run repeats exactly."""
