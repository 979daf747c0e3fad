/** What the parts of the gRPC codec say to each other. */
import type { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import type { ByteWriter } from './byte-writer.ts'

/** What is wrong with bytes, or with a payload that does not fit its message. Its text names a field and no value. */
export class CodecError extends Error {
  override readonly name = 'CodecError'
  readonly field: string
  readonly what: string

  constructor(what: string, field = '', options?: ErrorOptions) {
    super(field === '' ? `The message ${what}` : `${field} ${what}`, options)
    this.what = what
    this.field = field
  }

  /** The same, seen from one level up. */
  static within(name: string, reason: unknown): CodecError {
    const { what, field } = reason instanceof CodecError ? reason : { what: 'does not fit its type', field: '' }
    return new CodecError(what, field === '' || field.startsWith('[') ? name + field : `${name}.${field}`)
  }
}

export interface Reading {
  /** How deep what is being read may still be nested. */
  depth: number
  /** How many values may still be read: as many as the same payload has in JSON. */
  nodes: number
  /** How many fields may still be read, known or not: a value in a Struct takes four. Bounds fields that yield no value. */
  fields: number
}

/** Thrown when a message holds more values or fields than allowed. */
export class TooManyNodes extends CodecError {}

export function startReading(depth: number, nodes: number): Reading {
  return { depth, nodes, fields: (nodes + 1) * 4 }
}

export function countNode(reading: Reading): void {
  if (--reading.nodes < 0) throw new TooManyNodes('holds too many values')
}

export function countField(reading: Reading): void {
  if (--reading.fields < 0) throw new TooManyNodes('holds too many fields')
}

/** Reads and writes what stands behind a field's tag. */
export interface Codec {
  readonly wire: WireType
  write(writer: ByteWriter, value: unknown): void
  /** `before`: what the same field held already; messages that come in pieces are put together. */
  read(reader: BinaryReader, reading: Reading, before: unknown): unknown
}

/** A message without the length that stands before it inside another one. */
export interface MessageCodec {
  writeFields(writer: ByteWriter, value: unknown): void
  readFields(reader: BinaryReader, end: number, reading: Reading, before: unknown): unknown
}

export type Bag = { [key: string]: unknown }

export function isBag(value: unknown): value is Bag {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `__proto__` is a key like any other. */
export function setKey(bag: Bag, key: string, value: unknown): void {
  if (key !== '__proto__') bag[key] = value
  else Object.defineProperty(bag, key, { value, enumerable: true, writable: true, configurable: true })
}

/** Goes one level down; whoever walks by recursion must not be walked off its stack. */
export function descend(reading: Reading): void {
  if (--reading.depth < 0) throw new CodecError('is nested too deeply')
}
