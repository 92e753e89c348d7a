from concurrent.futures import ThreadPoolExecutor

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame.estimator.model_function.spec import EstimatorSpec, ModeKeys
from tf_frame.runs.export.export_outputs import PredictOutput

pytestmark = pytest.mark.usefixtures("graph")


def far_tensor():
    return tf.constant(1.0, name="far")


def test_modes_and_fields_are_those_of_tf_estimator():
    assert (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) == ("train", "eval", "infer")
    assert tuple(Mode) == (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)
    assert type(ModeKeys.PREDICT) is str
    assert EstimatorSpec._fields == (
        *("mode", "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs"),
        *("training_chief_hooks", "training_hooks", "scaffold"),
        *("evaluation_hooks", "prediction_hooks"),
    )


def test_what_is_left_out_is_empty():
    spec = EstimatorSpec(ModeKeys.EVAL, loss=tf.constant(1.0))
    assert (spec.predictions, spec.eval_metric_ops) == ({}, {})
    assert spec.train_op is None and spec.export_outputs is None
    hooks = (spec.training_hooks, spec.training_chief_hooks, spec.evaluation_hooks)
    assert (*hooks, spec.prediction_hooks) == ((), (), (), ())
    assert isinstance(spec.scaffold, tf.train.Scaffold)


def test_what_the_caller_changes_afterwards_is_no_part_of_the_spec():
    predictions, metrics = {"v": tf.constant(1.0)}, {"m": tf.metrics.mean(1.0)}
    spec = EstimatorSpec("infer", predictions=predictions, eval_metric_ops=metrics)
    predictions.clear()
    metrics.clear()
    assert set(spec.predictions) == {"v"} and set(spec.eval_metric_ops) == {"m"}


def test_a_full_spec_keeps_what_it_is_given():
    loss, step, value = tf.constant(1.0), tf.no_op(), tf.constant([1.0])
    metrics = {"mean": tf.metrics.mean(value)}
    hooks = [tf.train.SessionRunHook() for _ in range(4)]
    scaffold, exports = tf.train.Scaffold(), {"one": PredictOutput(value)}
    spec = EstimatorSpec(
        mode=ModeKeys.TRAIN,
        predictions={"value": value},
        loss=loss,
        train_op=step,
        eval_metric_ops=metrics,
        export_outputs=exports,
        training_chief_hooks=hooks[:1],
        training_hooks=hooks[1:2],
        scaffold=scaffold,
        evaluation_hooks=iter(hooks[2:3]),
        prediction_hooks=hooks[3:],
    )
    assert spec.mode == "train" and spec.loss is loss and spec.train_op is step
    assert spec.predictions["value"] is value and spec.scaffold is scaffold
    assert spec.eval_metric_ops == metrics and spec.export_outputs is exports
    assert (spec.training_chief_hooks, spec.training_hooks) == ((hooks[0],), (hooks[1],))
    assert (spec.evaluation_hooks, spec.prediction_hooks) == ((hooks[2],), (hooks[3],))


def test_training_and_evaluation_need_a_loss_and_prediction_needs_predictions():
    for mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
        with pytest.raises(ValueError, match=r"^Missing loss\.$"):
            EstimatorSpec(mode, train_op=tf.no_op())
    with pytest.raises(ValueError, match=r"^Missing predictions\.$"):
        EstimatorSpec(ModeKeys.PREDICT, loss=tf.constant(1.0))
    assert EstimatorSpec(ModeKeys.PREDICT, predictions=tf.constant([1.0])).loss is None
    # tf-frame makes the update.
    assert EstimatorSpec(ModeKeys.TRAIN, loss=tf.constant(1.0)).train_op is None


def test_a_loss_of_shape_1_becomes_a_scalar_and_other_scalars_stay_as_they_are():
    loss = EstimatorSpec(ModeKeys.TRAIN, loss=tf.constant([3.0])).loss
    assert loss.shape == []
    with tf.Session() as session:
        assert session.run(loss) == 3.0
    for loss in (tf.constant(1.0), tf.placeholder(tf.float32)):
        assert EstimatorSpec(ModeKeys.EVAL, loss=loss).loss is loss
    with pytest.raises(ValueError, match=r"^Loss must be scalar, given: Tensor\("):
        EstimatorSpec(ModeKeys.EVAL, loss=tf.constant([1.0, 2.0]))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"loss": 1.0}, r"^loss must be Tensor, given: 1\.0$"),
        ({"train_op": "step"}, r"^train_op must be Operation or Tensor, given: step$"),
        ({"predictions": 5}, r"^predictions must be Tensor, given: 5$"),
        ({"predictions": {"p": 5}}, r"^predictions\[p\] must be Tensor, given: 5$"),
        ({"eval_metric_ops": [1]}, r"^eval_metric_ops must be a dict, given: \[1\]$"),
        (
            {"eval_metric_ops": {"a": 1}},
            r"^Values of eval_metric_ops must be \(metric_value, update_op\) tuples, given: 1 "
            r"for key: a$",
        ),
        ({"eval_metric_ops": {"a": (1, 2, 3)}}, r"tuples, given: \(1, 2, 3\) for key: a$"),
        (
            {"eval_metric_ops": {"a": (1, 2)}},
            r"^eval_metric_ops\[a\] must be Operation or Tensor, given: 1$",
        ),
        ({"scaffold": "new"}, r"^scaffold must be tf.train.Scaffold. Given: new$"),
        ({"training_hooks": ["h"]}, r"^All hooks must be SessionRunHook instances, given: h$"),
        ({"training_chief_hooks": [0]}, r"SessionRunHook instances, given: 0$"),
        ({"evaluation_hooks": [1]}, r"SessionRunHook instances, given: 1$"),
        ({"prediction_hooks": [2]}, r"SessionRunHook instances, given: 2$"),
    ],
)
def test_a_wrong_type_is_a_type_error(fields, message):
    with pytest.raises(TypeError, match=message):
        EstimatorSpec(ModeKeys.TRAIN, **{"loss": tf.constant(1.0), **fields})


@pytest.mark.parametrize(
    ("field", "make", "what"),
    [
        ("loss", far_tensor, 'loss with "far:0"'),
        ("train_op", lambda: tf.no_op(name="far"), 'train_op with "far"'),
        ("predictions", far_tensor, 'prediction values with "far:0"'),
        ("predictions", lambda: {"p": far_tensor()}, 'prediction values with "p: far:0"'),
        (
            "eval_metric_ops",
            lambda: {"m": (far_tensor(), tf.no_op())},
            'eval_metric_ops with "m: far:0"',
        ),
    ],
)
def test_what_belongs_to_another_graph_is_refused(field, make, what):
    with tf.Graph().as_default():
        value = make()
    fields = {"loss": tf.constant(1.0), field: value}
    with pytest.raises(ValueError) as error:
        EstimatorSpec(ModeKeys.TRAIN, **fields)
    assert str(error.value).startswith(f"{what} must be from the default graph. Possible causes")
    assert 'not created in the most recent call to "model_fn".' in str(error.value)


def test_variables_count_as_tensors_and_their_updates_as_train_ops(variable_mode):
    step = tf.train.create_global_step()
    weights = tf.get_variable("w", initializer=[1.0])
    spec = EstimatorSpec(
        ModeKeys.TRAIN, predictions=weights, loss=weights, train_op=step.assign_add(1)
    )
    assert spec.predictions is weights and spec.loss.shape == []
    assert not isinstance(spec.train_op, tf.Variable)
    assert variable_mode == "reference" or isinstance(spec.train_op, tf.Operation)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(spec.train_op)
        assert session.run([step, spec.loss]) == [1, 1.0]


class Metric:
    """Like a metric of Keras 2: a total of what it was shown."""

    name = "total"

    def __init__(self):
        self.variable = tf.Variable(0.0, collections=[])
        self.variables, self.updates = [self.variable], []

    def update_state(self, value):
        self.updates.append(self.variable.assign_add(value))

    def result(self):
        return tf.identity(self.variable)


def test_an_object_like_a_keras_metric_becomes_a_pair_with_local_variables(variable_mode):
    metric = Metric()
    with pytest.raises(ValueError, match=r'^Please call update_state\(...\) on the "total" metric'):
        EstimatorSpec(ModeKeys.EVAL, loss=tf.constant(1.0), eval_metric_ops={"sum": metric})
    metric.update_state(2.0)
    given = {"sum": metric, "mean": tf.metrics.mean([4.0])}
    spec = EstimatorSpec(ModeKeys.EVAL, loss=tf.constant(1.0), eval_metric_ops=given)
    value, update = spec.eval_metric_ops["sum"]
    assert given["sum"] is metric, "the caller's dict is left alone"
    for collection in (tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES):
        assert [v.ref() for v in tf.get_collection(collection)].count(metric.variable.ref()) == 1
    EstimatorSpec(ModeKeys.EVAL, loss=tf.constant(1.0), eval_metric_ops=given)
    assert len([v for v in tf.local_variables() if v.ref() == metric.variable.ref()]) == 1
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(update)
        session.run(update)
        assert session.run(value) == 4.0


def test_without_exports_the_predictions_are_served():
    value = tf.constant([1.0])
    (key,) = (exports := EstimatorSpec("infer", predictions={"v": value}).export_outputs)
    assert key == "serving_default" and exports[key].outputs == {"v": value}
    exports = EstimatorSpec("infer", predictions=value).export_outputs
    assert exports["serving_default"].outputs == {"output": value}


def test_a_single_export_is_the_default_too():
    output = PredictOutput(tf.constant([1.0]))
    for name in ("head", "serving_default"):
        given = {name: output}
        spec = EstimatorSpec("infer", predictions={"v": tf.constant(1.0)}, export_outputs=given)
        assert spec.export_outputs == {name: output, "serving_default": output}
        assert given == {name: output}, "the caller's dict is left alone"


def test_of_several_exports_one_must_be_the_default():
    one, two = PredictOutput(tf.constant([1.0])), PredictOutput(tf.constant([2.0]))
    message = (
        "^Multiple `export_outputs` were provided, but none of them are specified as the default. "
        "Use`tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY` to specify a default.$"
    )
    with pytest.raises(ValueError, match=message):
        EstimatorSpec("infer", predictions=one.outputs, export_outputs={"a": one, "b": two})
    both = {"a": one, "serving_default": two}
    assert EstimatorSpec("infer", predictions=one.outputs, export_outputs=both)[5] == both


@pytest.mark.parametrize(
    ("exports", "message"),
    [
        ("all", r"^`export_outputs` must be dict, received: all\.$"),
        (
            {"a": 5},
            r"^Values in `export_outputs` must be ExportOutput objects, received: \{'a': 5\}\.$",
        ),
    ],
)
def test_exports_of_another_type_are_a_type_error_where_they_are_used(exports, message):
    value = tf.constant(1.0)
    with pytest.raises(TypeError, match=message):
        EstimatorSpec("infer", predictions=value, export_outputs=exports)
    assert EstimatorSpec("eval", loss=value, export_outputs=exports).export_outputs is exports


def test_a_changed_spec_is_checked_anew():
    spec = EstimatorSpec("train", loss=tf.constant(1.0))
    changed = spec._replace(loss=tf.constant([2.0]), mode="train")
    assert isinstance(changed, EstimatorSpec) and changed.loss.shape == []
    assert changed.scaffold is spec.scaffold
    with pytest.raises(TypeError, match="loss must be Tensor"):
        spec._replace(loss=5)
    with pytest.raises(ValueError, match=r"^mode of EstimatorSpec cannot be changed\.$"):
        spec._replace(mode="eval")
    with pytest.raises(ValueError, match=r"Got unexpected field names: \['los'\]"):
        spec._replace(los=5)


def test_outside_of_any_graph_the_tensors_of_eager_execution_will_do():
    def loss():
        assert tf.executing_eagerly()
        return EstimatorSpec("eval", loss=tf.constant([2.0])).loss.numpy()

    with ThreadPoolExecutor(1) as threads:  # A thread has no default graph yet.
        assert threads.submit(loss).result() == 2.0
