"""The heads of `tf.estimator` and `tf.contrib.estimator`."""

from tf_frame_legacy.estimator.heads.classification import (
    BinaryClassHead as BinaryClassHead,
    MultiClassHead as MultiClassHead,
)
from tf_frame_legacy.estimator.heads.functions import (
    binary_classification_head as binary_classification_head,
    binary_or_multi_class_head as binary_or_multi_class_head,
    logistic_regression_head as logistic_regression_head,
    multi_class_head as multi_class_head,
    multi_head as multi_head,
    multi_label_head as multi_label_head,
    poisson_regression_head as poisson_regression_head,
    regression_head as regression_head,
)
from tf_frame_legacy.estimator.heads.head import Head as Head, LossSpec as LossSpec
from tf_frame_legacy.estimator.heads.multi_head import MultiHead as MultiHead
from tf_frame_legacy.estimator.heads.multi_label import MultiLabelHead as MultiLabelHead
from tf_frame_legacy.estimator.heads.regression import (
    LogisticRegressionHead as LogisticRegressionHead,
    PoissonRegressionHead as PoissonRegressionHead,
    RegressionHead as RegressionHead,
)
