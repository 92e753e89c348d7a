"""The names of the old trainer of word recognition (ASTER's), for scripts written for it.

Existing scripts change their imports and keep the rest:

    from tf_frame_recognition.legacy import standard_fields, trainer

What else they import is in `tf_frame_legacy`: `batcher`, `learning_schedules`, `model_deploy`,
`optimizer_builder`, `prefetcher`, `profile_session_run_hooks`, `training`, `variables_helper`.
Configurations are dictionaries or objects with the fields of the old protocol buffers. Importing
the modules imports TensorFlow.
"""
