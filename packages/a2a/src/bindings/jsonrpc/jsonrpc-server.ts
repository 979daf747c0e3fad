/**
 * Reads the JSON-RPC envelope and writes it around a payload. Payloads pass through unchanged, parsed on the way in and already
 * encoded on the way out; the caller knows which version they belong to.
 */
import { A2AError } from '../../model/error.ts'
import { errorTable } from '../../model/error-table.ts'
import { isHeavy } from '../../model/heavy-step.ts'
import type { Operation } from '../../model/operation.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import { isLegacyVersion, type Dialect } from '../../versions/version.ts'
import type { Framing, HttpBindingServer } from '../protocol-binding.ts'
import { type JsonBody, tooDeep } from '../json-body.ts'

/** An id as JSON text, ready to be spliced into the response. */
export type IdText = string

export interface Envelope {
  readonly id: IdText
  readonly method: string
  /** `{}` if the request has none: the dialect then reports the missing fields (B-40). */
  readonly params: object
  /** The request has no id and expects no response, but every operation has one: refused before its params are read (F-2). */
  readonly isNotification?: true
}
export interface MalformedEnvelope {
  /** `null` if the id could not be read (F-1). */
  readonly id: IdText
  /** Set if it could be read. It decides which version's spelling the error uses (B-10). */
  readonly method?: string
  readonly error: A2AError
}

export function readEnvelope({ value, text, isTooDeep }: JsonBody): Envelope | MalformedEnvelope {
  if (Array.isArray(value)) return malformed('null', 'Batches are not part of A2A')
  if (typeof value !== 'object' || value === null) return malformed('null', 'The request must be a JSON object')
  const request = value as Record<string, unknown>
  const isNotification = request.id === undefined
  const id = isNotification ? 'null' : readId(request.id, isTooDeep ? undefined : text)
  if (id === undefined) return malformed('null', 'id must be a string, a number or null')
  const { method } = request
  if (typeof method !== 'string' || method === '') {
    return malformed(id, 'method must be a string that is not empty')
  }
  if (request.jsonrpc !== '2.0') return { ...malformed(id, 'jsonrpc must be "2.0"'), method }
  if (isNotification) return { id, method, params: {}, isNotification }
  if (isTooDeep) return { id, method, error: tooDeep() }
  const params = request.params ?? {}
  if (typeof params !== 'object' || Array.isArray(params)) {
    return { id, method, error: new A2AError('INVALID_PARAMS', 'Invalid parameters: params must be an object') }
  }
  return { id, method, params }
}

export function notificationError(): A2AError {
  return malformed('null', 'id is missing').error
}

function malformed(id: IdText, reason: string): MalformedEnvelope {
  return { id, error: new A2AError('INVALID_REQUEST', `Request payload validation error: ${reason}`) }
}

/** Any finite number is echoed, including fractions: refusing them has no benefit (F-2). `id: 0` is a valid id. */
function readId(id: unknown, text: string | undefined): IdText | undefined {
  if (typeof id === 'string') return JSON.stringify(id)
  if (id === null) return 'null'
  if (typeof id !== 'number' || !Number.isFinite(id)) return undefined
  // A clock in nanoseconds is a popular id and exceeds what a double holds exactly.
  return Number.isSafeInteger(id) || text === undefined ? String(id) : (sourceOfId(text, id) ?? String(id))
}

/** The digits as sent, if the runtime's parser provides them (V8 and others since 2023). */
function sourceOfId(text: string, id: number): string | undefined {
  // Parsing again with a reviver takes three times as long as parsing.
  if (isHeavy(text.length)) return onlySourceOfId(text, id)
  let source: string | undefined
  function watch(this: unknown, key: string, value: unknown, context?: { readonly source?: string }): unknown {
    // An envelope may carry another one in its params: the outer one has this id and both of the other names.
    const holder = this as Record<string, unknown>
    if (key === 'id' && value === id && 'jsonrpc' in holder && 'method' in holder) source = context?.source
    return value
  }
  JSON.parse(text, watch)
  return source
}

/** The digits of every `"id"` in the text that equals this number, if they are the same everywhere. */
function onlySourceOfId(text: string, id: number): string | undefined {
  // Searching for the name first takes a fraction of the time of the pattern alone over 18 MB.
  const number = /"id"\s{0,100}:\s{0,100}(-?\d[\d.eE+-]{0,400})/y
  let source: string | undefined
  for (let at = text.indexOf('"id"'); at >= 0; at = text.indexOf('"id"', at + 1)) {
    number.lastIndex = at
    const digits = number.exec(text)?.[1]
    if (digits === undefined || Number(digits) !== id) continue
    if (source !== undefined && source !== digits) return undefined
    source = digits
  }
  return source
}

/** Maps each method of a version, including aliases, to its operation. */
export function jsonrpcMethodsOf(version: ProtocolVersion): ReadonlyMap<string, Operation> {
  const { methods, aliases = {} } = version.spelling
  const named = Object.entries(methods).map(([operation, method]): [string, Operation] => [
    method,
    operation as Operation,
  ])
  return new Map([...Object.entries(aliases), ...named])
}

/** Statuses that concern the transport rather than the call; every other error is sent with status 200 (F-3). */
const transportStatuses: ReadonlySet<number> = new Set([401, 403, 413, 415, 429, 503])

export function jsonrpcFraming(dialect: Dialect, id: IdText): Framing {
  const opening = `{"jsonrpc":"2.0","id":${id},`
  return {
    contentType: 'application/json',
    before: `${opening}"result":`,
    after: '}',
    // Each data document is a complete JSON-RPC response, which is recognizable as an error (F-6).
    errorEvent: '',
    error(error) {
      // JSON.stringify omits `undefined` data.
      const body = { code: dialect.errorNumber(error), message: error.message, data: dialect.errorData(error) }
      return `${opening}"error":${JSON.stringify(body)}}`
    },
    status(error) {
      const { http } = errorTable[error.code]
      return transportStatuses.has(http) ? http : 200
    },
  }
}

export const jsonrpcServer: HttpBindingServer = {
  dialectOf: ({ json }) => json,
  isIn: () => true,
  cardEntry({ id }, { base, path, tenant }) {
    // 0.2 looks for the extended card relative to the url. With a trailing slash it looks below the agent's own path, and not below
    // the path of all agents (B-136).
    const url = path === '' ? `${base}/a2a` : base + path + (isLegacyVersion(id) ? '/' : '')
    return { url, ...(tenant === undefined ? {} : { tenant }) }
  },
  paths: ['', '/'],
  method: 'POST',
  framing: ({ json }, { id = 'null' } = {}) => jsonrpcFraming(json, id),
}
