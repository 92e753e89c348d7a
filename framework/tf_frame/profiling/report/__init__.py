"""Reports on recorded steps: figures, hints, text, JSON and HTML; no TensorFlow.

from tf_frame.profiling.profile_folders import read_recorded_run
from tf_frame.profiling.report.build_report import build_report
from tf_frame.profiling.report.text import format_report

run = read_recorded_run("runs/first")
print(format_report(build_report(run.profiles, run=run.name)))
"""
