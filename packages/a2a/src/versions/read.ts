/**
 * Reading what peers send: small readers that take one value each and collect what is wrong with the field as the
 * caller spelled it, so that one answer names every mistake (B-38). Values of `metadata` and `data` are passed on by
 * reference and never walked, because JSON may be nested deeper than the stack.
 */
import { A2AError, invalidParams } from '../model/error.ts'
import type { Violation } from '../model/error.ts'
import type { Json, Struct } from '../model/task.ts'
import { toTimestamp } from '../model/time.ts'
import { toBase64 } from './base64.ts'
import { canonicalVocabulary } from './vocabulary.ts'
import type { Vocabulary } from './vocabulary.ts'

export interface Reader {
  /** Where we are, as the caller spelled it. One stack for the whole payload: a path is only spelled out on a violation. */
  readonly path: (string | number)[]
  readonly violations: Violation[]
  /** Reading a server's answer: what it left out is filled in rather than refused. */
  readonly forgiving: boolean
  /** What the payload itself is called. */
  readonly root: string
  /** How the payload's dialect writes enumerations, for what is told to the caller. */
  readonly vocabulary: Vocabulary
}

/** `undefined` means "as if it were not there", or that a violation has been noted. */
export type Read<T> = (reader: Reader, value: unknown) => T | undefined

export type Bag = { readonly [key: string]: unknown }

export function isBag(value: unknown): value is Bag {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A payload of a million mistakes gets an answer that a person can read. */
const maxViolations = 20

export function complain(reader: Reader, description: string, ...below: (string | number)[]): undefined {
  if (reader.violations.length >= maxViolations) return
  let field = ''
  for (const step of [...reader.path, ...below]) {
    field += typeof step === 'number' ? `[${step}]` : field === '' ? step : `.${step}`
  }
  reader.violations.push({ field: field === '' ? reader.root : field, description })
}

/** A request of a client: every violation is an INVALID_PARAMS. */
export function readRequest<T>(read: Read<T>, payload: unknown, vocabulary = canonicalVocabulary): T {
  const reader: Reader = { path: [], violations: [], forgiving: false, root: 'params', vocabulary }
  const value = read(reader, payload)
  if (value === undefined || reader.violations.length > 0) throw invalidParams(reader.violations)
  return value
}

/** An answer of a server. */
export function readAnswer<T>(read: Read<T>, payload: unknown, root = 'result', forgiving = true): T {
  const reader: Reader = { path: [], violations: [], forgiving, root, vocabulary: canonicalVocabulary }
  const value = read(reader, payload)
  if (value !== undefined && reader.violations.length === 0) return value
  const what = reader.violations.map((violation) => `${violation.field} ${violation.description}`).join('; ')
  throw new A2AError('INVALID_AGENT_RESPONSE', `The peer's answer is malformed: ${what}`, {
    violations: reader.violations,
  })
}

export const text: Read<string> = (reader, value) =>
  typeof value === 'string' ? value : complain(reader, 'must be a string')

/** A string of which the empty one equals none at all, as proto3 has it for most fields (J-7). */
export const word: Read<string> = (reader, value) => (value === '' ? undefined : text(reader, value))

/** A string that must say something. */
export const name: Read<string> = (reader, value) =>
  value === '' && !reader.forgiving ? complain(reader, 'must not be empty') : text(reader, value)

export const flag: Read<boolean> = (reader, value) =>
  typeof value === 'boolean' ? value : complain(reader, 'must be true or false')

/** A boolean that may come from a query string. */
export const queryFlag: Read<boolean> = (reader, value) =>
  value === 'true' ? true : value === 'false' ? false : flag(reader, value)

/** An int32, also as a decimal string (J-11). */
export function integer(min: number, max = 2_147_483_647): Read<number> {
  const expected = max === 2_147_483_647 ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`
  return (reader, value) => {
    const number = typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value
    if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return number
    return complain(reader, `must be ${expected}`)
  }
}

export const timestamp: Read<string> = (reader, value) => {
  const time = typeof value === 'string' ? toTimestamp(value) : undefined
  if (time !== undefined || reader.forgiving) return time
  return complain(reader, 'must be an ISO 8601 timestamp')
}

export const bytes: Read<string> = (reader, value) => {
  const base64 = typeof value === 'string' ? toBase64(value) : undefined
  return base64 ?? complain(reader, 'must be base64')
}

/** Where a file is to be had. The engine holds to the same rule; here the field has the name that the caller gave it. */
export const link: Read<string> = (reader, value) => {
  const url = text(reader, value)
  if (url === undefined || reader.forgiving || (/^https?:\/\//i.test(url) && URL.canParse(url))) return url
  return complain(reader, 'must be an absolute http(s) URL')
}

/** A JSON object, as it is. */
export const struct: Read<Struct> = (reader, value) =>
  isBag(value) ? (value as Struct) : complain(reader, 'must be an object')

/** Any JSON value, as it is. */
export const json: Read<Json> = (_reader, value) => value as Json

export function list<T>(read: Read<T>, atLeast = 0): Read<readonly T[]> {
  return (reader, value) => {
    if (!Array.isArray(value)) return complain(reader, 'must be an array')
    if (value.length < atLeast && !reader.forgiving) return complain(reader, 'must not be empty')
    const items: T[] = []
    const depth = reader.path.length
    for (let i = 0; i < value.length; i++) {
      reader.path[depth] = i
      const item = read(reader, value[i])
      if (item !== undefined) items.push(item)
    }
    reader.path.length = depth
    return items
  }
}

export const words: Read<readonly string[]> = list(text)

/** An object used as a map. Built without assignment, so that `__proto__` is a key like any other. */
export function map<T>(read: Read<T>): Read<{ readonly [key: string]: T }> {
  return (reader, value) => {
    if (!isBag(value)) return complain(reader, 'must be an object')
    const entries: [string, T][] = []
    const depth = reader.path.length
    for (const key of Object.keys(value)) {
      reader.path[depth] = key
      const item = read(reader, value[key])
      if (item !== undefined) entries.push([key, item])
    }
    reader.path.length = depth
    return Object.fromEntries(entries)
  }
}

/** A reader of what another reader has read. */
export function then<T, U>(read: Read<T>, change: (value: T, reader: Reader) => U | undefined): Read<U> {
  return (reader, value) => {
    const given = read(reader, value)
    return given === undefined ? undefined : change(given, reader)
  }
}
