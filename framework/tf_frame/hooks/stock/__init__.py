"""TensorFlow's hooks under their own names, without their cost in every step."""
