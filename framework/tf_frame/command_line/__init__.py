"""Code that all commands share: screen, parsing, option help, run folders, lock."""
