/** Reads a JSON body for both HTTP bindings: checks its media type, its syntax and its depth. */
import { A2AError } from '../model/error.ts'
import { heavyStep, inSteps, isHeavy, markLarge, type NextStep, type WorkOwner } from '../model/heavy-step.ts'
import { defaultJsonNodes, JsonMeter, measureJson } from '../model/json-nodes.ts'
import { parseJsonInSteps } from '../model/json-steps.ts'
import type { HttpRequest } from './http.ts'

/** 0.x requires the first, 1.0 the second; peers mix them (F-1, F-8). */
const accepted: ReadonlySet<string> = new Set(['application/json', 'application/a2a+json'])

/**
 * Protects recursive readers from a stack overflow: 100,000 brackets are a small body. Real payloads are less than ten levels deep.
 */
const maxDepth = 200

export interface BodyLimits {
  readonly bodyBytes: number
  readonly jsonNodes: number
}

/** Returns `undefined` if there is no body. A large one is read in steps, in turn with those of other callers. */
export async function readJson(
  request: HttpRequest,
  limits: BodyLimits,
  owner?: WorkOwner,
): Promise<JsonBody | undefined> {
  const { bodyBytes, jsonNodes } = limits
  if (request.parsed !== undefined) {
    // The framework applied a limit of its own; only the declared length is left to check.
    if (Number(request.header('content-length') ?? 0) > bodyBytes) throw tooLarge(bodyBytes)
    requireJson(request.header('content-type'))
    const { value } = request.parsed
    const size = { nodesLeft: jsonNodes }
    const isTooDeep = isDeeper(value, maxDepth, size)
    if (size.nodesLeft < 0) throw tooManyNodes(jsonNodes)
    return { value, text: undefined, isTooDeep }
  }
  const text = await request.body(bodyBytes, owner)
  if (text === '') return undefined
  requireJson(request.header('content-type'))
  if (!isHeavy(text.length)) return parseJson(text, jsonNodes)
  markLarge(request)
  const nextStep = (): Promise<void> => heavyStep(owner?.callerKey)
  await nextStep()
  const body = await parseLargeJson(text, jsonNodes, nextStep)
  // Processing the value is a separate heavy step.
  await nextStep()
  return body
}

export interface JsonBody {
  readonly value: unknown
  /** The body as received, if this module read it. */
  readonly text: string | undefined
  /** The top-level keys may be read, so that an error carries the id of the request. Nothing below them may. */
  readonly isTooDeep: boolean
}

export function parseJson(text: string, jsonNodes = defaultJsonNodes): JsonBody {
  // A shorter text can neither be too deep nor, as n values take 2n − 1 characters, hold too many values.
  const isShort = text.length <= maxDepth * 2 && text.length < jsonNodes * 2
  const { nodes, depth } = isShort ? emptySize : measureJson(text, jsonNodes)
  if (nodes > jsonNodes) throw tooManyNodes(jsonNodes)
  try {
    return bodyOf(text, depth, JSON.parse(text))
  } catch {
    throw notJson()
  }
}

async function parseLargeJson(text: string, jsonNodes: number, nextStep: NextStep): Promise<JsonBody> {
  const { nodes, depth } = await inSteps(measurePieces(text, jsonNodes), nextStep)
  if (nodes > jsonNodes) throw tooManyNodes(jsonNodes)
  try {
    return bodyOf(text, depth, await parseJsonInSteps(text, nextStep))
  } catch {
    throw notJson()
  }
}

const measuredLength = 131_072

function* measurePieces(text: string, maxNodes: number): Generator<undefined, JsonMeter> {
  const meter = new JsonMeter(maxNodes)
  for (let at = 0; at < text.length && !meter.isExceeded; at += measuredLength) {
    meter.feed(text.slice(at, at + measuredLength))
    yield
  }
  return meter
}

function bodyOf(text: string, depth: number, value: unknown): JsonBody {
  const isTooDeep = depth > maxDepth
  return { value: isTooDeep || !mightHoldSurrogates(text) ? value : wellFormedBody(value), text, isTooDeep }
}

/** The parser's message quotes the body, and a body may hold a secret. */
function notJson(): A2AError {
  return new A2AError('PARSE_ERROR', 'Invalid JSON payload')
}

/** Most texts have no escape at all, and the search for a fixed text takes a tenth of the expression's time. */
function mightHoldSurrogates(text: string): boolean {
  return text.includes('\\u') && /\\u[dD]/.test(text)
}

const emptySize = { nodes: 0, depth: 0 }

function requireJson(contentType: string | undefined): void {
  // The two common spellings, compared before any string is sliced.
  if (contentType === 'application/json' || contentType === 'application/a2a+json') return
  // A body without a type is refused as well: a page of another origin can make a browser send such a request.
  const semicolon = contentType?.indexOf(';') ?? -1
  const type = (semicolon < 0 ? contentType : contentType?.slice(0, semicolon))?.trim().toLowerCase()
  if (type !== undefined && accepted.has(type)) return
  throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json or application/a2a+json')
}

/** The id of a JSON-RPC request is echoed as received (F-2), so it is left as it is. */
function wellFormedBody(value: unknown): unknown {
  const id: unknown = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined
  const made = wellFormed(value)
  return typeof id === 'string' ? Object.assign(made as object, { id }) : made
}

/**
 * Replaces lone surrogates: UTF-8, and with it gRPC, cannot carry half a pair. `JSON.stringify` also takes 70 ns for each, which
 * for a body of 18 MB is 0.2 s for every write. Strings are replaced in place; this module owns the value.
 */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = wellFormed(value[index])
    return value
  }
  if (!Object.keys(value).every((key) => key.isWellFormed())) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]))
  }
  const fields = value as Record<string, unknown>
  for (const key of Object.keys(fields)) {
    // `__proto__` in JSON is a field; an assignment would set the prototype.
    if (key !== '__proto__') fields[key] = wellFormed(fields[key])
  }
  return value
}

export function tooLarge(limitBytes: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `The body is larger than ${limitBytes} bytes`)
}

export function tooManyNodes(jsonNodes: number): A2AError {
  const message = `The body holds more than ${jsonNodes} JSON values`
  return new A2AError('PAYLOAD_TOO_LARGE', message, { limit: 'jsonNodes' })
}

export function tooDeep(): A2AError {
  return new A2AError('INVALID_PARAMS', `Invalid parameters: the body is nested deeper than ${maxDepth} levels`)
}

/** Stops when a limit is exceeded; `nodesLeft` is below 0 if it is the limit of nodes. */
function isDeeper(value: unknown, levels: number, size: { nodesLeft: number }): boolean {
  if (--size.nodesLeft < 0) return false
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const item of value) {
      if (isDeeper(item, levels - 1, size)) return true
      if (size.nodesLeft < 0) return false
    }
    return false
  }
  for (const key in value) {
    if (isDeeper((value as Record<string, unknown>)[key], levels - 1, size)) return true
    if (size.nodesLeft < 0) return false
  }
  return false
}
