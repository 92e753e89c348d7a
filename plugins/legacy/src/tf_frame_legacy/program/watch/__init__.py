"""Additions to an old program that it never had: profiles, saves on signals, checks, metrics.csv.

They are off unless an option of `tf-frame legacy run` asks. Programs train in many ways, so the
additions stand where all of these meet: `Session.run`, `Saver.save`, `FileWriter.add_summary`.
An Estimator trains in tf-frame's own loop, and gets the run options of the same names.
"""
