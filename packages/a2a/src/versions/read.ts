/**
 * Reads what peers send: small readers that take one value each and collect violations under the field name that the caller
 * used, so that one response names every mistake (B-38). Values of `metadata` and `data` are passed on by reference and never
 * walked, because JSON may be nested deeper than the stack.
 */
import { toTimestamp } from '../model/clock.ts'
import { A2AError, type Violation, invalidParams } from '../model/error.ts'
import { isStruct } from '../model/struct.ts'
import type { Json, Struct } from '../model/task.ts'
import { type Vocabulary, canonicalVocabulary } from './vocabulary.ts'

export interface ReadContext {
  /**
   * The current position, in the caller's spelling. One stack for the whole payload: a path becomes text only on a violation.
   */
  readonly path: (string | number)[]
  readonly violations: Violation[]
  /** For a server's response: missing fields are filled in instead of refused. */
  readonly forgiving: boolean
  /** The name of the payload itself. */
  readonly root: string
  /** How the payload's dialect writes enumerations, for messages to the caller. */
  readonly vocabulary: Vocabulary
  /** Called for each field that the table of its object does not have. Default: such fields are ignored. */
  readonly onUnknownField?: UnknownFieldListener | undefined
}

/** Gets the object that was read, and the field that is not in its table. */
export type UnknownFieldListener = (object: object, name: string, value: unknown) => void

/** `undefined` means that the value counts as absent, or that a violation has been recorded. */
export type FieldReader<T> = (reader: ReadContext, value: unknown) => T | undefined

export type JsonRecord = { readonly [key: string]: unknown }

/** A payload with a million mistakes gets a response that a person can read. */
const maxViolations = 20

export function addViolation(reader: ReadContext, description: string, ...below: (string | number)[]): undefined {
  if (reader.violations.length >= maxViolations) return
  let field = ''
  for (const step of [...reader.path, ...below]) {
    field += typeof step === 'number' ? `[${step}]` : field === '' ? step : `.${step}`
  }
  reader.violations.push({ field: field === '' ? reader.root : field, description })
}

/** Reads a client's request: every violation is an INVALID_PARAMS. */
export function readRequestPayload<T>(read: FieldReader<T>, payload: unknown, vocabulary = canonicalVocabulary): T {
  const reader: ReadContext = { path: [], violations: [], forgiving: false, root: 'params', vocabulary }
  const value = read(reader, payload)
  if (value === undefined || reader.violations.length > 0) throw invalidParams(reader.violations)
  return value
}

/** Reads a server's response. */
export function readResponsePayload<T>(
  read: FieldReader<T>,
  payload: unknown,
  root = 'result',
  forgiving = true,
  onUnknownField?: UnknownFieldListener,
): T {
  const vocabulary = canonicalVocabulary
  const reader: ReadContext = { path: [], violations: [], forgiving, root, vocabulary, onUnknownField }
  const value = read(reader, payload)
  if (value !== undefined && reader.violations.length === 0) return value
  const what = reader.violations.map((violation) => `${violation.field} ${violation.description}`).join('; ')
  throw new A2AError('INVALID_AGENT_RESPONSE', `The peer's response is malformed: ${what}`, {
    violations: reader.violations,
  })
}

export const text: FieldReader<string> = (reader, value) =>
  typeof value === 'string' ? value : addViolation(reader, 'must be a string')

/** A string for which empty means absent, as proto3 defines it for most fields (J-7). */
export const optionalText: FieldReader<string> = (reader, value) => (value === '' ? undefined : text(reader, value))

/** A string that must not be empty. */
export const nonEmptyText: FieldReader<string> = (reader, value) =>
  value === '' && !reader.forgiving ? addViolation(reader, 'must not be empty') : text(reader, value)

export const flag: FieldReader<boolean> = (reader, value) =>
  typeof value === 'boolean' ? value : addViolation(reader, 'must be true or false')

/** A boolean that may come from a query string. */
export const queryFlag: FieldReader<boolean> = (reader, value) =>
  value === 'true' ? true : value === 'false' ? false : flag(reader, value)

/** An int32, also as a decimal string (J-11). */
export function integer(min: number, max = 2_147_483_647): FieldReader<number> {
  const expected = max === 2_147_483_647 ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`
  return (reader, value) => {
    const number = typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value
    if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return number
    return addViolation(reader, `must be ${expected}`)
  }
}

export const timestamp: FieldReader<string> = (reader, value) => {
  const time = typeof value === 'string' ? toTimestamp(value) : undefined
  if (time !== undefined || reader.forgiving) return time
  return addViolation(reader, 'must be an ISO 8601 timestamp')
}

export const bytes: FieldReader<string> = (reader, value) => {
  const base64 = typeof value === 'string' ? toBase64(value) : undefined
  return base64 ?? addViolation(reader, 'must be base64')
}

/** The URL of a file. The engine applies the same rule; here the violation has the field name that the caller used. */
export const httpUrl: FieldReader<string> = (reader, value) => {
  const url = text(reader, value)
  if (url === undefined || reader.forgiving || (/^https?:\/\//i.test(url) && URL.canParse(url))) return url
  return addViolation(reader, 'must be an absolute http(s) URL')
}

/** A JSON object, unchanged. */
export const struct: FieldReader<Struct> = (reader, value) =>
  isStruct(value) ? value : addViolation(reader, 'must be an object')

/** Any JSON value, unchanged. */
export const anyJson: FieldReader<Json> = (_reader, value) => value as Json

export function list<T>(read: FieldReader<T>, atLeast = 0): FieldReader<readonly T[]> {
  return (reader, value) => {
    if (!Array.isArray(value)) return addViolation(reader, 'must be an array')
    if (value.length < atLeast && !reader.forgiving) return addViolation(reader, 'must not be empty')
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

export const textList: FieldReader<readonly string[]> = list(text)

/** An object used as a map. Built without assignment, so that `__proto__` is a key like any other. */
export function map<T>(read: FieldReader<T>): FieldReader<{ readonly [key: string]: T }> {
  return (reader, value) => {
    if (!isStruct(value)) return addViolation(reader, 'must be an object')
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

/** Transforms the value that another reader returns. */
export function mapRead<T, U>(
  read: FieldReader<T>,
  change: (value: T, reader: ReadContext) => U | undefined,
): FieldReader<U> {
  return (reader, value) => {
    const given = read(reader, value)
    return given === undefined ? undefined : change(given, reader)
  }
}

// Bytes in JSON: written as standard base64 with padding, read in every common variant (J-4).

// One search for an invalid character: no backtracking, so twenty megabytes cost milliseconds and no stack.
const foreign = /[^A-Za-z0-9+/]/
const foreignInUrl = /[^A-Za-z0-9\-_]/

/** Standard base64 with padding, or `undefined` if it is not base64 at all. */
export function toBase64(text: string): string | undefined {
  let end = text.length
  if (end > 0 && text.charCodeAt(end - 1) === 61) end--
  if (end > 0 && end < text.length && text.charCodeAt(end - 1) === 61) end--
  const padding = text.length - end
  // One leftover character holds six bits, less than a byte. Padding, if there is any, must fit.
  if (end % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return undefined
  const bare = padding === 0 ? text : text.slice(0, end)
  if (!foreign.test(bare)) return padding > 0 || end % 4 === 0 ? text : pad(bare)
  if (foreignInUrl.test(bare)) return undefined
  return pad(bare.replaceAll('-', '+').replaceAll('_', '/'))
}

function pad(bare: string): string {
  return bare + '='.repeat((4 - (bare.length % 4)) % 4)
}
