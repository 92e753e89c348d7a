"""Where things live: devices of inputs, clones, variables and optimizer."""
