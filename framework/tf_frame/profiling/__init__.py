"""Profiling: capture a step, write what was seen, and never end training over it.

    from tf_frame.profiling.capture import Capture
    from tf_frame.profiling.chrome_trace import chrome_trace, write_trace
    from tf_frame.profiling.run_metadata import add_run_metadata, run_options

Two tools of TensorFlow, which may run at once:

* Run metadata: one run that is asked for it returns when each operation ran on
  which device. From it come Chrome traces and the figures of the graphs page.
* XPlane: the process records all its threads and devices from a start to a
  stop. It is what TensorBoard's Profile tab reads.
"""
