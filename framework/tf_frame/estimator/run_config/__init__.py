"""`RunConfig`: arguments of tf.estimator, TF_CONFIG and run options in one object."""
