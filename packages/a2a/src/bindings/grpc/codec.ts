/**
 * Protobuf bytes to ProtoJSON and back, in one pass each way, driven by tables built from the descriptors. The library builds a
 * tree of message objects and reflects on every field of it: 5.8 µs for a small event, against 1.5 here. A payload is the same as
 * in REST of the same version, so the dialects do not depend on gRPC.
 */
import { ScalarType, type DescEnum, type DescField, type DescMessage } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { defaultJsonNodes } from '../../model/json-nodes.ts'
import { isStruct } from '../../model/struct.ts'
import { ByteWriter } from './byte-writer.ts'
import type { MessageObject, Codec, MessageCodec, DecodeBudget } from './message-codec.ts'
import {
  CodecError,
  countField,
  countNode,
  eachField,
  endOf,
  enterLevel,
  setKey,
  createDecodeBudget,
} from './message-codec.ts'
import { messageDescriptor, descriptorRegistry } from './schema.ts'
import { wellKnown } from './well-known.ts'

/** Deeper than real payloads nest, and shallower than any stack; the same limit as for a JSON body. */
const maxDepth = 200

/** Shared by all calls: encoding is synchronous and never interleaves. */
const writer = new ByteWriter()

/** Throws CodecError if the payload does not match the message. Properties without a field in the message are omitted. */
export function encodeProtobuf(typeName: string, payload: unknown): Uint8Array {
  try {
    codecOf(messageDescriptor(typeName)).writeFields(writer, payload ?? {})
    return writer.finish()
  } catch (reason) {
    writer.reset()
    throw reason
  }
}

/** A writer of its own: `payloadAt` may run code that encodes other messages. */
const frameWriter = new ByteWriter()

/** Messages of a stream, each after its length: one write instead of one for each. */
export interface Frames {
  readonly bytes: Uint8Array
  /** How many messages they are. */
  readonly count: number
}

/**
 * Encodes up to `most` payloads until they have `maxBytes`. Ends before a payload that cannot be encoded; throws its error if it
 * is the first.
 */
export function encodeFrames(
  typeName: string,
  most: number,
  payloadAt: (index: number) => unknown,
  maxBytes: number,
): Frames {
  const codec = codecOf(messageDescriptor(typeName))
  let count = 0
  while (count < most && frameWriter.length < maxBytes) {
    const start = frameWriter.beginFrame()
    try {
      codec.writeFields(frameWriter, payloadAt(count) ?? {})
    } catch (reason) {
      frameWriter.dropFrame(start)
      if (count === 0) throw reason
      break
    }
    frameWriter.endFrame(start)
    count += 1
  }
  return { bytes: frameWriter.finish(), count }
}

/** Throws CodecError if the bytes are not such a message, and TooManyNodesError if they hold more than `maxNodes` values. */
export function decodeProtobuf(typeName: string, bytes: Uint8Array, maxNodes = defaultJsonNodes): unknown {
  try {
    const reader = new BinaryReader(bytes)
    const budget = createDecodeBudget(maxDepth, maxNodes)
    countNode(budget)
    return codecOf(messageDescriptor(typeName)).readFields(reader, bytes.length, budget, undefined)
  } catch (reason) {
    // The reader's own messages are about offsets.
    throw reason instanceof CodecError ? reason : new CodecError('is malformed', '', { cause: reason })
  }
}

const codecs = new Map<string, MessageCodec>(
  Object.entries(
    wellKnown((typeName) => {
      const message = descriptorRegistry.getMessage(typeName)
      return message === undefined ? undefined : codecOf(message)
    }),
  ),
)

function codecOf(message: DescMessage): MessageCodec {
  let codec = codecs.get(message.typeName)
  if (codec === undefined) codecs.set(message.typeName, (codec = plainMessage(message)))
  return codec
}

interface FieldCodec {
  readonly name: string
  readonly number: number
  readonly kind: 'one' | 'list' | 'map'
  readonly codec: Codec
  /** The value that is not written because absence means the same; `undefined` for a field with presence. */
  readonly implicitDefault: unknown
  /** The other members of its oneof: the last one received wins. */
  readonly oneofSiblings: readonly string[]
  /** Whether JSON's null is a value of this type. */
  readonly nullable: boolean
}

function plainMessage(message: DescMessage): MessageCodec {
  // Filled on first use, because messages contain one another in cycles.
  let byName: Map<string, FieldCodec> | undefined
  const byNumber = new Map<number, FieldCodec>()
  const slots = (): Map<string, FieldCodec> => {
    if (byName !== undefined) return byName
    byName = new Map()
    for (const slot of message.fields.map(fieldCodecOf)) {
      byName.set(slot.name, slot)
      byNumber.set(slot.number, slot)
    }
    return byName
  }

  return {
    writeFields(writer, value) {
      if (!isStruct(value)) throw new CodecError('must be an object')
      const known = byName ?? slots()
      for (const key in value) {
        const slot = known.get(key)
        // A dialect's additions to the proto have no field number and are omitted.
        if (slot !== undefined) writeField(writer, slot, value[key])
      }
    },
    readFields(reader, end, budget, before) {
      if (byName === undefined) slots()
      const out = (before ?? {}) as MessageObject
      enterLevel(budget)
      if (end > reader.len) throw new CodecError('is cut off')
      while (reader.pos < end) {
        countField(budget)
        const [number, wire] = reader.tag()
        const slot = byNumber.get(number)
        if (slot === undefined || slot.codec.wire !== wire) reader.skip(wire, number)
        else readField(reader, slot, budget, out)
      }
      if (reader.pos > end) throw new CodecError('has a field that is longer than it')
      budget.depth++
      return out
    },
  }
}

function fieldCodecOf(field: DescField): FieldCodec {
  const { jsonName: name, number } = field
  const oneofSiblings = (field.oneof?.fields ?? []).filter((other) => other !== field).map((other) => other.jsonName)
  const nullable = field.message?.typeName === 'google.protobuf.Value'
  const common = { name, number, oneofSiblings, nullable, implicitDefault: undefined }
  switch (field.fieldKind) {
    case 'scalar':
      return { ...common, kind: 'one', codec: scalar(field.scalar), implicitDefault: implicitDefaultOf(field) }
    case 'enum':
      return { ...common, kind: 'one', codec: enumeration(field.enum), implicitDefault: implicitDefaultOf(field) }
    case 'message':
      return { ...common, kind: 'one', codec: delimited(field.message) }
    case 'list':
      if (field.packed) throw new Error(`${name}: lists of numbers are not used by A2A`)
      return { ...common, kind: 'list', codec: itemOf(field) }
    case 'map':
      if (field.mapKey !== ScalarType.STRING) throw new Error(`${name}: maps have strings for keys`)
      return { ...common, kind: 'map', codec: entry(itemOf(field)) }
  }
}

/** In proto3 a field without presence is omitted when it holds its zero value. */
function implicitDefaultOf(field: DescField & { fieldKind: 'scalar' | 'enum' }): unknown {
  // 2 is FieldPresence.IMPLICIT; the module that declares it is not worth loading for one constant.
  if ((field.presence as number) !== 2) return undefined
  if (field.fieldKind === 'enum') return field.enum.values.find(({ number }) => number === 0)?.name
  return field.getDefaultValue() ?? zeros[field.scalar]
}

const zeros: { readonly [scalar: number]: unknown } = {
  [ScalarType.STRING]: '',
  [ScalarType.BOOL]: false,
  [ScalarType.INT32]: 0,
  [ScalarType.BYTES]: '',
}

function itemOf(field: DescField & { fieldKind: 'list' | 'map' }): Codec {
  if (field.message !== undefined) return delimited(field.message)
  if (field.scalar === undefined) throw new Error(`${field.name}: lists of names are not used by A2A`)
  return scalar(field.scalar)
}

function writeField(
  writer: ByteWriter,
  { name, number, kind, codec, implicitDefault, nullable }: FieldCodec,
  value: unknown,
): void {
  if (value === undefined || (value === null && !nullable)) return
  try {
    if (kind === 'list') {
      if (!Array.isArray(value)) throw new CodecError('must be an array')
      for (const item of value) codec.write(writer.tag(number, codec.wire), item)
    } else if (kind === 'map') {
      if (!isStruct(value)) throw new CodecError('must be an object')
      for (const pair of Object.entries(value)) codec.write(writer.tag(number, codec.wire), pair)
    } else if (value !== implicitDefault || implicitDefault === undefined) {
      codec.write(writer.tag(number, codec.wire), value)
    }
  } catch (reason) {
    // The path is built while the error propagates, so that a valid payload costs nothing.
    throw CodecError.within(name, reason)
  }
}

function readField(
  reader: BinaryReader,
  { name, kind, codec, oneofSiblings }: FieldCodec,
  budget: DecodeBudget,
  out: MessageObject,
): void {
  countNode(budget)
  if (kind === 'one') {
    for (const sibling of oneofSiblings) delete out[sibling]
    out[name] = codec.read(reader, budget, out[name])
    return
  }
  if (kind === 'list') {
    if (out[name] === undefined) countNode(budget)
    const list = (out[name] ??= []) as unknown[]
    list.push(codec.read(reader, budget, undefined))
    return
  }
  if (out[name] === undefined) countNode(budget)
  const [key, value] = codec.read(reader, budget, undefined) as [string, unknown]
  setKey((out[name] ??= {}) as MessageObject, key, value)
}

/** A nested message. */
function delimited(message: DescMessage): Codec {
  let inner: MessageCodec | undefined
  return {
    wire: WireType.LengthDelimited,
    write(writer, value) {
      inner ??= codecOf(message)
      inner.writeFields(writer.fork(), value)
      writer.join()
    },
    read(reader, budget, before) {
      inner ??= codecOf(message)
      return inner.readFields(reader, endOf(reader), budget, before)
    },
  }
}

/** A map entry, which on the wire is a message of two fields. */
function entry(value: Codec): Codec {
  return {
    wire: WireType.LengthDelimited,
    write(writer, pair) {
      const [key, item] = pair as [string, unknown]
      writer.fork().tag(1, WireType.LengthDelimited).string(key)
      value.write(writer.tag(2, value.wire), item)
      writer.join()
    },
    read(reader, budget) {
      let key = ''
      let item: unknown
      eachField(reader, endOf(reader), budget, (number, wire) => {
        if (number === 1 && wire === WireType.LengthDelimited) key = reader.string()
        else if (number === 2 && wire === value.wire) item = value.read(reader, budget, item)
        else return false
        return true
      })
      // An omitted value is the zero value of its type.
      return [key, item ?? (value === strings ? '' : {})]
    },
  }
}

// The scalar types that A2A uses, as JSON represents them.

const strings: Codec = {
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

function scalar(type: ScalarType): Codec {
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
function enumeration({ name, values }: DescEnum): Codec {
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
