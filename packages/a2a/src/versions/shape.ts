/**
 * An object as a table of its fields: which reader each has, by which names it may come, and whether it must be
 * there. Both spellings of each name are read (J-1), `null` counts as absent (J-6), what is not in the table is
 * ignored (J-10). It walks the keys that are there rather than those that could be, so a small object costs little.
 */
import { complain, isBag } from './read.ts'
import type { Bag, Read, Reader } from './read.ts'

export interface Field<V> {
  readonly read: Read<V>
  readonly required?: boolean
  /** What a forgiving reader takes if a required field is missing. */
  readonly fallback?: V
  /** Whether `null` is a value of its own. */
  readonly nullable?: boolean
  /** The name a missing field is reported by, and other names it may come by. Default: its own name. */
  readonly names?: readonly string[]
  /** The name a missing field is reported by, where that is not the first of `names`. */
  readonly missingAs?: string
}

export type Fields<T> = { readonly [K in keyof T]-?: Read<Exclude<T[K], undefined>> | Field<Exclude<T[K], undefined>> }

interface Slot {
  readonly key: string
  readonly read: Read<unknown>
  readonly bit: number
  readonly nullable: boolean
  /** Set for an alias: the name that wins if both are there. */
  readonly insteadOf?: string
}

export function required<V>(read: Read<V>, more: Omit<Field<V>, 'read' | 'required'> = {}): Field<V> {
  return { read, required: true, ...more }
}

/** An optional field that also comes by other names. */
export function named<V>(read: Read<V>, ...names: string[]): Field<V> {
  return { read, names }
}

const snake = (camel: string): string => camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export function shape<T extends object>(fields: Fields<T>): Read<T> {
  const entries = Object.entries(fields).map(([key, given]): [string, Field<unknown>] => [
    key,
    typeof given === 'function' ? { read: given as Read<unknown> } : (given as Field<unknown>),
  ])
  const slots = new Map<string, Slot>()
  let needed = 0
  for (const [index, [key, field]] of entries.entries()) {
    const slot: Slot = { key, read: field.read, bit: 1 << index, nullable: field.nullable ?? false }
    if (field.required === true) needed |= slot.bit
    const [first = key, ...others] = field.names ?? []
    slots.set(snake(first), slot).set(first, slot)
    for (const other of others) {
      const alias = { ...slot, insteadOf: first }
      slots.set(snake(other), alias).set(other, alias)
    }
  }

  function fillMissing(reader: Reader, out: Record<string, unknown>, seen: number): void {
    for (const [index, [key, field]] of entries.entries()) {
      if (field.required !== true || (seen & (1 << index)) !== 0) continue
      if (reader.forgiving && 'fallback' in field) out[key] = field.fallback
      else complain(reader, 'is required', field.missingAs ?? field.names?.[0] ?? key)
    }
  }

  return (reader, value) => {
    if (!isBag(value)) return complain(reader, 'must be an object')
    const out: Record<string, unknown> = {}
    const seen = readKeys(reader, value, slots, out)
    if ((seen & needed) !== needed) fillMissing(reader, out, seen)
    return out as T
  }
}

function readKeys(reader: Reader, value: Bag, slots: Map<string, Slot>, out: Record<string, unknown>): number {
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
