"""Random operations that a resumed run repeats exactly."""
