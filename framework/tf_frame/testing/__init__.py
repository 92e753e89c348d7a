"""What authors of plugins test with: a toy model and input, jobs without packages."""
