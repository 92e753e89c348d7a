"""The hooks that `--hook NAME` chooses: their options, and how the hook is made of them.

None of these modules imports TensorFlow at its top; the hooks themselves are in
`tf_frame.hooks` under names of their own.
"""
