/**
 * An object as a table of its fields: the reader of each, the names it may have, and whether it is required. Both spellings of
 * each name are read (J-1), `null` counts as absent (J-6), fields that are not in the table are ignored (J-10) or reported
 * (`onUnknownField`). It walks the keys that are present rather than all possible keys, so a small object costs little.
 */
import { type TaskState, taskStates } from '../model/state.ts'
import { isStruct } from '../model/struct.ts'
import type { Role } from '../model/task.ts'
import { type FieldReader, type JsonRecord, type ReadContext, addViolation } from './read.ts'
import { type Vocabulary, legacyJsonVocabulary, legacyProtoVocabulary } from './vocabulary.ts'

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
    const given = value[spelling]
    if (slot === undefined) {
      reader.onUnknownField?.(out, spelling, given)
      continue
    }
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

// Reads enumerations by every name of a member, and by number (J-2).

const roles: readonly Role[] = ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT']

/** A number may come as its digits, from a query string. */
function numbered<T extends string>(members: readonly T[]): [unknown, T][] {
  return members.flatMap((member, number): [unknown, T][] => [
    [member, member],
    [number, member],
    [String(number), member],
  ])
}

function member<T>(
  names: ReadonlyMap<unknown, T>,
  fallback: T,
  expected: (vocabulary: Vocabulary) => string,
): FieldReader<T> {
  return (reader, value) => {
    const found = names.get(value)
    if (found !== undefined && (found !== fallback || reader.forgiving)) return found
    return reader.forgiving ? fallback : addViolation(reader, `must be ${expected(reader.vocabulary)}`)
  }
}

/** 0.x writes `user` and `agent`; so do some 1.0 peers. */
export const role: FieldReader<Role> = member(
  new Map<unknown, Role>([...numbered(roles), ['user', 'ROLE_USER'], ['agent', 'ROLE_AGENT']]),
  'ROLE_UNSPECIFIED',
  ({ roles: { ROLE_USER, ROLE_AGENT } }) => `${ROLE_USER} or ${ROLE_AGENT}`,
)

const stateNames = new Map<unknown, TaskState>([
  ...numbered(taskStates),
  ...taskStates.map((state): [unknown, TaskState] => [legacyProtoVocabulary.states[state], state]),
])

/** In a filter: UNSPECIFIED and an empty query parameter match every state (B-81). */
export const stateFilter: FieldReader<TaskState> = (reader, value) => {
  const found = value === '' ? 'TASK_STATE_UNSPECIFIED' : stateNames.get(value)
  if (found === undefined) return addViolation(reader, 'must be the name of a task state')
  return found === 'TASK_STATE_UNSPECIFIED' ? undefined : found
}

/** In a response, an unknown state is UNSPECIFIED and not an error (B-174). */
export const state: FieldReader<TaskState> = member(
  new Map<unknown, TaskState>([
    ...stateNames,
    ...taskStates.map((state): [unknown, TaskState] => [legacyJsonVocabulary.states[state], state]),
    ['cancelled', 'TASK_STATE_CANCELED'],
    ['started', 'TASK_STATE_SUBMITTED'],
  ]),
  'TASK_STATE_UNSPECIFIED',
  () => 'the name of a task state',
)

/**
 * Copies the fields that are set, under the same names and in this order: an absent field leaves no key, neither in the object nor in
 * its JSON.
 */
export function copyFields<T extends object>(
  into: Record<string, unknown>,
  from: T,
  ...keys: (keyof T & string)[]
): Record<string, unknown> {
  for (const key of keys) if (from[key] !== undefined) into[key] = from[key]
  return into
}
