"""Reports on recorded steps: the numbers, hints in words, text, JSON and HTML; no TensorFlow.

from tf_frame.profiling.report.build import build
from tf_frame.profiling.report.run_folder import find
from tf_frame.profiling.report.text import text_of

run = find("runs/first")
print(text_of(build(run.profiles, run=run.name)))
"""
