"""Protocol buffers built at run time, for tests of code that reads other projects' messages."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

FIELD = descriptor_pb2.FieldDescriptorProto


def message_class(messages, enums=(), oneofs=()):
    """Returns the class of the last message.

    Args:
      messages: name -> fields, each `(name, type, label)`: a type of protocol buffers in lower
        case, a message or an enumeration; label `repeated`, `optional`, or the default.
      enums: name -> names of its values, from number 0 on.
      oneofs: message -> name of the choice that all of its fields are in.
    """
    file = descriptor_pb2.FileDescriptorProto(name="built.proto", package="built", syntax="proto2")
    enums, oneofs = dict(enums), dict(oneofs)
    for name, values in enums.items():
        described = file.enum_type.add(name=name)
        for number, value in enumerate(values):
            described.value.add(name=value, number=number)
    for name, fields in messages.items():
        described = file.message_type.add(name=name)
        if name in oneofs:
            described.oneof_decl.add(name=oneofs[name])
        for number, (field_name, kind, label) in enumerate(fields, 1):
            field = described.field.add(name=field_name, number=number)
            field.label = FIELD.LABEL_REPEATED if label == "repeated" else FIELD.LABEL_OPTIONAL
            if label not in ("repeated", "optional"):
                field.default_value = label
            if kind in enums or kind in messages:
                field.type = FIELD.TYPE_ENUM if kind in enums else FIELD.TYPE_MESSAGE
                field.type_name = f".built.{kind}"
            else:
                field.type = FIELD.Type.Value(f"TYPE_{kind.upper()}")
            if name in oneofs:
                field.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    last = pool.FindMessageTypeByName(f"built.{list(messages)[-1]}")
    return message_factory.GetMessageClass(last)


def parse(cls, text):
    """Returns a message from its text."""
    return text_format.Parse(text, cls())
