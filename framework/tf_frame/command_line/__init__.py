"""Code that all commands share: words and plugins of a command line, screen, help, lock."""
