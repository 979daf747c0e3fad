/** Types shared by the modules of the gRPC codec. */
import type { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import type { ByteWriter } from './byte-writer.ts'

/** Describes invalid bytes, or a payload that does not match its message. The text names a field and no value. */
export class CodecError extends Error {
  override readonly name = 'CodecError'
  readonly field: string
  readonly what: string

  constructor(what: string, field = '', options?: ErrorOptions) {
    super(field === '' ? `The message ${what}` : `${field} ${what}`, options)
    this.what = what
    this.field = field
  }

  /** The same error with the path of the enclosing field. */
  static within(name: string, reason: unknown): CodecError {
    const { what, field } = reason instanceof CodecError ? reason : { what: 'does not fit its type', field: '' }
    return new CodecError(what, field === '' || field.startsWith('[') ? name + field : `${name}.${field}`)
  }
}

export interface DecodeBudget {
  /** Remaining nesting depth. */
  depth: number
  /** Remaining values: a message may hold as many as the same payload has in JSON. */
  nodes: number
  /** Remaining fields, known or unknown: a value in a Struct takes four. Bounds fields that yield no value. */
  fields: number
}

/** Thrown when a message holds more values or fields than allowed. */
export class TooManyNodesError extends CodecError {}

export function createDecodeBudget(depth: number, nodes: number): DecodeBudget {
  return { depth, nodes, fields: (nodes + 1) * 4 }
}

export function countNode(budget: DecodeBudget): void {
  if (--budget.nodes < 0) throw new TooManyNodesError('holds too many values')
}

export function countField(budget: DecodeBudget): void {
  if (--budget.fields < 0) throw new TooManyNodesError('holds too many fields')
}

/** Reads and writes what follows a field's tag. */
export interface Codec {
  readonly wire: WireType
  write(writer: ByteWriter, value: unknown): void
  /** `before`: the value that the same field already held; a message that arrives in pieces is merged. */
  read(reader: BinaryReader, budget: DecodeBudget, before: unknown): unknown
}

/** A message without the length prefix that it has inside another message. */
export interface MessageCodec {
  writeFields(writer: ByteWriter, value: unknown): void
  readFields(reader: BinaryReader, end: number, budget: DecodeBudget, before: unknown): unknown
}

export type MessageObject = { [key: string]: unknown }

/** `__proto__` is an ordinary key. */
export function setKey(bag: MessageObject, key: string, value: unknown): void {
  if (key !== '__proto__') bag[key] = value
  else Object.defineProperty(bag, key, { value, enumerable: true, writable: true, configurable: true })
}

/** Enters one nesting level. The limit keeps recursive readers from overflowing the stack. */
export function enterLevel(budget: DecodeBudget): void {
  if (--budget.depth < 0) throw new CodecError('is nested too deeply')
}

export function endOf(reader: BinaryReader): number {
  const length = reader.uint32()
  return reader.pos + length
}

/** `take` returns whether it consumed the field; other fields are skipped. */
export function eachField(
  reader: BinaryReader,
  end: number,
  budget: DecodeBudget,
  take: (number: number, wire: WireType) => boolean,
): void {
  if (end > reader.len) throw new CodecError('is cut off')
  while (reader.pos < end) {
    countField(budget)
    const [number, wire] = reader.tag()
    if (!take(number, wire)) reader.skip(wire, number)
  }
  if (reader.pos > end) throw new CodecError('has a field that is longer than it')
}
