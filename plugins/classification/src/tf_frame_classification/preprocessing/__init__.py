"""What happens to an image before a network sees it: one family a file, as slim has them.

A family is a `tf_frame.Preprocessing`, named by an entry point of the group
`tf_frame.preprocessing`. Source of what they do: slim, preprocessing/.
"""
