"""Learning-rate schedules by name, and the warm-up before them."""
