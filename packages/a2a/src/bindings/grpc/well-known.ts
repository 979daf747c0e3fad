/** The messages of google.protobuf that ProtoJSON writes in a special form. */
import { WireType, type BinaryReader } from '@bufbuild/protobuf/wire'
import { toTimestamp } from '../../model/clock.ts'
import { isStruct } from '../../model/struct.ts'
import type { MessageObject, MessageCodec, DecodeBudget } from './message-codec.ts'
import { CodecError, countNode, eachField, endOf, enterLevel, setKey } from './message-codec.ts'

/** `find` returns the codec of a message by its name, for the content of an Any. */
export function wellKnown(
  find: (typeName: string) => MessageCodec | undefined,
): Readonly<Record<string, MessageCodec>> {
  return {
    'google.protobuf.Struct': struct,
    'google.protobuf.Value': value,
    'google.protobuf.ListValue': list,
    'google.protobuf.Timestamp': timestamp,
    'google.protobuf.Duration': duration,
    'google.protobuf.Any': any(find),
  }
}

const struct: MessageCodec = {
  writeFields(writer, given) {
    if (!isStruct(given)) throw new CodecError('must be an object')
    for (const key of Object.keys(given)) {
      if (given[key] === undefined) continue
      writer.tag(1, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).string(key)
      value.writeFields(writer.tag(2, WireType.LengthDelimited).fork(), given[key])
      writer.join().join()
    }
  },
  readFields(reader, end, budget, before) {
    const out = (before ?? {}) as MessageObject
    enterLevel(budget)
    eachField(reader, end, budget, (number, wire) => {
      if (number !== 1 || wire !== WireType.LengthDelimited) return false
      countNode(budget)
      let key = ''
      let item: unknown = null
      const entryEnd = endOf(reader)
      eachField(reader, entryEnd, budget, (part, kind) => {
        if (kind !== WireType.LengthDelimited) return false
        if (part === 1) key = reader.string()
        else if (part === 2) item = value.readFields(reader, endOf(reader), budget, undefined)
        else return false
        return true
      })
      setKey(out, key, item)
      return true
    })
    budget.depth++
    return out
  },
}

const list: MessageCodec = {
  writeFields(writer, given) {
    if (!Array.isArray(given)) throw new CodecError('must be an array')
    for (const item of given) {
      value.writeFields(writer.tag(1, WireType.LengthDelimited).fork(), item)
      writer.join()
    }
  },
  readFields(reader, end, budget, before) {
    const out = (before ?? []) as unknown[]
    enterLevel(budget)
    eachField(reader, end, budget, (number, wire) => {
      if (number !== 1 || wire !== WireType.LengthDelimited) return false
      countNode(budget)
      out.push(value.readFields(reader, endOf(reader), budget, undefined))
      return true
    })
    budget.depth++
    return out
  },
}

/** Any JSON value. A Value without a kind is read as null. */
const value: MessageCodec = {
  writeFields(writer, given) {
    switch (typeof given) {
      case 'number':
        if (!Number.isFinite(given)) throw new CodecError('must be a finite number')
        return void writer.tag(2, WireType.Bit64).double(given)
      case 'string':
        return void writer.tag(3, WireType.LengthDelimited).string(given)
      case 'boolean':
        return void writer.tag(4, WireType.Varint).bool(given)
      case 'object':
        break
      default:
        throw new CodecError('must be JSON')
    }
    if (given === null) return void writer.tag(1, WireType.Varint).int32(0)
    const isList = Array.isArray(given)
    writer.tag(isList ? 6 : 5, WireType.LengthDelimited).fork()
    ;(isList ? list : struct).writeFields(writer, given)
    writer.join()
  },
  readFields(reader, end, budget) {
    let out: unknown = null
    eachField(reader, end, budget, (number, wire) => {
      if (number === 3 && wire === WireType.LengthDelimited) out = reader.string()
      else if (number === 2 && wire === WireType.Bit64) out = finite(reader.double())
      else if (number === 4 && wire === WireType.Varint) out = reader.bool()
      else if (number === 5 && wire === WireType.LengthDelimited) {
        out = struct.readFields(reader, endOf(reader), budget, undefined)
      } else if (number === 6 && wire === WireType.LengthDelimited) {
        out = list.readFields(reader, endOf(reader), budget, undefined)
      } else if (number === 1 && wire === WireType.Varint) {
        reader.int32()
        out = null
      } else return false
      return true
    })
    return out
  },
}

function finite(number: number): number {
  if (Number.isFinite(number)) return number
  throw new CodecError('holds a number that JSON does not have')
}

/** Seconds and nanoseconds since 1970; in JSON a time in UTC, with millisecond precision (J-3). */
const timestamp: MessageCodec = {
  writeFields(writer, given) {
    const text = typeof given === 'string' ? toTimestamp(given) : undefined
    if (text === undefined) throw new CodecError('must be an ISO 8601 timestamp')
    const at = Date.parse(text)
    const seconds = Math.floor(at / 1_000)
    if (seconds !== 0) writer.tag(1, WireType.Varint).int64(seconds)
    if (at !== seconds * 1_000) writer.tag(2, WireType.Varint).int32((at - seconds * 1_000) * 1_000_000)
  },
  readFields(reader, end, budget) {
    const { seconds, nanos } = readPair(reader, end, budget)
    const at = new Date(seconds * 1_000 + Math.floor(nanos / 1_000_000))
    const year = Number.isNaN(at.getTime()) ? -1 : at.getUTCFullYear()
    if (year < 1 || year > 9_999) throw new CodecError('must be a time between the years 1 and 9999')
    return at.toISOString()
  },
}

const duration: MessageCodec = {
  writeFields(writer, given) {
    const found = typeof given === 'string' ? /^(\d{1,12})(?:\.(\d{1,9}))?s$/.exec(given) : null
    if (found === null) throw new CodecError('must be a duration such as 1.5s')
    const nanos = Number((found[2] ?? '').padEnd(9, '0'))
    writer.tag(1, WireType.Varint).int64(Number(found[1]))
    if (nanos !== 0) writer.tag(2, WireType.Varint).int32(nanos)
  },
  readFields(reader, end, budget) {
    const { seconds, nanos } = readPair(reader, end, budget)
    return `${seconds + nanos / 1_000_000_000}s`
  },
}

function readPair(reader: BinaryReader, end: number, budget: DecodeBudget): { seconds: number; nanos: number } {
  let seconds = 0
  let nanos = 0
  eachField(reader, end, budget, (number, wire) => {
    if (wire !== WireType.Varint || number > 2) return false
    if (number === 1) seconds = Number(reader.int64())
    else nanos = reader.int32()
    return true
  })
  return { seconds, nanos }
}

/** A message with its type name; of an unknown type only the name is read. */
function any(find: (typeName: string) => MessageCodec | undefined): MessageCodec {
  const codecAt = (url: string): MessageCodec | undefined => find(url.slice(url.lastIndexOf('/') + 1))
  return {
    writeFields(writer, given) {
      const url = isStruct(given) ? given['@type'] : undefined
      const codec = typeof url === 'string' ? codecAt(url) : undefined
      if (codec === undefined) throw new CodecError('must have a known @type')
      writer.tag(1, WireType.LengthDelimited).string(url as string)
      codec.writeFields(writer.tag(2, WireType.LengthDelimited).fork(), given)
      writer.join()
    },
    readFields(reader, end, budget) {
      let url = ''
      let at: readonly [start: number, end: number] | undefined
      eachField(reader, end, budget, (number, wire) => {
        if (wire !== WireType.LengthDelimited || number > 2) return false
        if (number === 1) url = reader.string()
        else {
          const innerEnd = endOf(reader)
          at = [reader.pos, innerEnd]
          reader.pos = innerEnd
        }
        return true
      })
      const codec = codecAt(url)
      const out = { '@type': url }
      if (at === undefined || codec === undefined) return out
      const [start, innerEnd] = at
      const after = reader.pos
      reader.pos = start
      codec.readFields(reader, innerEnd, budget, out)
      reader.pos = after
      return out
    },
  }
}
