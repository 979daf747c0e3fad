/**
 * An object as a table of its fields: the reader of each, the names it may have, and whether it is required. Both spellings of
 * each name are read (J-1), `null` counts as absent (J-6), fields that are not in the table are ignored (J-10). It walks the
 * keys that are present rather than all possible keys, so a small object costs little.
 */
import { isStruct } from '../model/struct.ts'
import { addViolation } from './read.ts'
import type { JsonRecord, FieldReader, ReadContext } from './read.ts'

export interface Field<V> {
  readonly read: FieldReader<V>
  readonly required?: boolean
  /** The value for a missing required field in a forgiving read. */
  readonly fallback?: V
  /** Whether `null` is a value of its own. */
  readonly nullable?: boolean
  /** The name in the error for a missing field, and other accepted names. Default: its own name. */
  readonly names?: readonly string[]
  /** The name in the error for a missing field, if that is not the first of `names`. */
  readonly missingAs?: string
}

export type Fields<T> = {
  readonly [K in keyof T]-?: FieldReader<Exclude<T[K], undefined>> | Field<Exclude<T[K], undefined>>
}

interface FieldSlot {
  readonly key: string
  readonly read: FieldReader<unknown>
  readonly bit: number
  readonly nullable: boolean
  /** Set for an alias: the name that wins if both are present. */
  readonly insteadOf?: string
}

export function required<V>(read: FieldReader<V>, more: Omit<Field<V>, 'read' | 'required'> = {}): Field<V> {
  return { read, required: true, ...more }
}

/** An optional field with other accepted names. */
export function named<V>(read: FieldReader<V>, ...names: string[]): Field<V> {
  return { read, names }
}

const snake = (camel: string): string => camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export function shape<T extends object>(fields: Fields<T>): FieldReader<T> {
  const entries = Object.entries(fields).map(([key, given]): [string, Field<unknown>] => [
    key,
    typeof given === 'function' ? { read: given as FieldReader<unknown> } : (given as Field<unknown>),
  ])
  const slots = new Map<string, FieldSlot>()
  let needed = 0
  for (const [index, [key, field]] of entries.entries()) {
    const slot: FieldSlot = { key, read: field.read, bit: 1 << index, nullable: field.nullable ?? false }
    if (field.required === true) needed |= slot.bit
    const [first = key, ...others] = field.names ?? []
    slots.set(snake(first), slot).set(first, slot)
    for (const other of others) {
      const alias = { ...slot, insteadOf: first }
      slots.set(snake(other), alias).set(other, alias)
    }
  }

  function fillMissing(reader: ReadContext, out: Record<string, unknown>, seen: number): void {
    for (const [index, [key, field]] of entries.entries()) {
      if (field.required !== true || (seen & (1 << index)) !== 0) continue
      if (reader.forgiving && 'fallback' in field) out[key] = field.fallback
      else addViolation(reader, 'is required', field.missingAs ?? field.names?.[0] ?? key)
    }
  }

  return (reader, value) => {
    if (!isStruct(value)) return addViolation(reader, 'must be an object')
    const out: Record<string, unknown> = {}
    const seen = readKeys(reader, value, slots, out)
    if ((seen & needed) !== needed) fillMissing(reader, out, seen)
    return out as T
  }
}

function readKeys(
  reader: ReadContext,
  value: JsonRecord,
  slots: Map<string, FieldSlot>,
  out: Record<string, unknown>,
): number {
  const { path } = reader
  const depth = path.length
  let seen = 0
  for (const spelling in value) {
    const slot = slots.get(spelling)
    if (slot === undefined) continue
    const given = value[spelling]
    if (given === undefined || (given === null && !slot.nullable)) continue
    if (slot.insteadOf !== undefined && (value[slot.insteadOf] ?? undefined) !== undefined) continue
    seen |= slot.bit
    path[depth] = spelling
    const read = slot.read(reader, given)
    if (read !== undefined) out[slot.key] = read
  }
  path.length = depth
  return seen
}
