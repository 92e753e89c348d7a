"""Built-in gradient transforms, applied to the summed gradients before the update."""
