"""Writing side: checkpoints that are whole or not there, and their retention."""
