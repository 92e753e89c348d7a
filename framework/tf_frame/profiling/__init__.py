"""Profiles of training steps; a failure of the profiler is logged and never ends training.

    from tf_frame.profiling.capture import Capture
    from tf_frame.profiling.run_metadata import chrome_trace, run_options, write_trace

TensorFlow has two tools, which may run at once:

* Run metadata: a session run returns, on request, the time and the device of each operation.
  Chrome traces and the figures of TensorBoard's Graphs tab use it.
* XPlane: the process records all its threads and devices from a start to a stop, one capture at a
  time (`process_profiler`). TensorBoard's Profile tab reads it.
"""
