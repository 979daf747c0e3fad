/** The scalar types that A2A uses, as JSON represents them. */
import { ScalarType, type DescEnum } from '@bufbuild/protobuf'
import { WireType } from '@bufbuild/protobuf/wire'
import { CodecError, type Codec } from './message-codec.ts'

export const strings: Codec = {
  wire: WireType.LengthDelimited,
  write(writer, value) {
    if (typeof value !== 'string') throw new CodecError('must be a string')
    writer.string(value)
  },
  read: (reader) => reader.string(),
}

const booleans: Codec = {
  wire: WireType.Varint,
  write(writer, value) {
    if (typeof value !== 'boolean') throw new CodecError('must be true or false')
    writer.bool(value)
  },
  read: (reader) => reader.bool(),
}

const integers: Codec = {
  wire: WireType.Varint,
  write(writer, value) {
    if (!Number.isInteger(value)) throw new CodecError('must be an integer')
    writer.int32(value as number)
  },
  read: (reader) => reader.int32(),
}

/** JSON has no bytes: they are base64 there (J-4). */
const base64: Codec = {
  wire: WireType.LengthDelimited,
  write(writer, value) {
    if (typeof value !== 'string') throw new CodecError('must be base64')
    writer.bytes(Buffer.from(value, 'base64'))
  },
  read(reader) {
    const { buffer, byteOffset, length } = reader.bytes()
    return Buffer.from(buffer, byteOffset, length).toString('base64')
  },
}

export function scalar(type: ScalarType): Codec {
  switch (type) {
    case ScalarType.STRING:
      return strings
    case ScalarType.BOOL:
      return booleans
    case ScalarType.INT32:
      return integers
    case ScalarType.BYTES:
      return base64
    default:
      throw new Error(`Scalars of type ${type} are not used by A2A`)
  }
}

/** By name in JSON (J-2). A number without a name stays a number. */
export function enumeration({ name, values }: DescEnum): Codec {
  const byName = new Map<unknown, number>(values.map((value) => [value.name, value.number]))
  const byNumber = new Map(values.map((value) => [value.number, value.name]))
  return {
    wire: WireType.Varint,
    write(writer, value) {
      const number = byName.get(value) ?? value
      if (!Number.isInteger(number)) throw new CodecError(`must be a name of ${name}`)
      writer.int32(number as number)
    },
    read(reader) {
      const number = reader.int32()
      return byNumber.get(number) ?? number
    },
  }
}
