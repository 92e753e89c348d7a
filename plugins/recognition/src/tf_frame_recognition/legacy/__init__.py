"""The names of ASTER's trainer of word recognition, for scripts that were written for that trainer.

Existing scripts change their imports and keep the rest:

    from tf_frame_recognition.legacy import standard_fields, trainer

Their other imports are in `tf_frame_legacy`: `batcher`, `learning_schedules`, `model_deploy`,
`optimizer_builder`, `prefetcher`, `profile_session_run_hooks`, `training`, `variables_helper`.
Configurations are dictionaries or objects with the fields of the old protocol buffers. Importing
the modules imports TensorFlow.
"""

try:
    import tf_frame_legacy  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "tf_frame_recognition.legacy needs tf-frame-legacy: "
        "pip install 'tf-frame-recognition[legacy]'",
        name=error.name,
    ) from error
