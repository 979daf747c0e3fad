/** Reads a JSON body once for both bindings: which media types it may have, that it parses, and how deep it may go. */
import { A2AError } from '../model/error.ts'
import type { HttpRequest } from './http.ts'

/** 0.x asks for the first, 1.0 for the second; peers mix them (F-1, F-8). */
const accepted: ReadonlySet<string> = new Set(['application/json', 'application/a2a+json'])

/**
 * Whoever walks a value by recursion must not be walked off its stack: 100,000 brackets
 * are a small body. What people really send is less than ten deep.
 */
const maxDepth = 200

/** `undefined` where there is no body. */
export async function readJson(request: HttpRequest, limitBytes: number): Promise<JsonBody | undefined> {
  if (request.parsed !== undefined) {
    // Whoever read it had another limit; what was declared is all that is left to measure.
    if (Number(request.header('content-length') ?? 0) > limitBytes) throw tooLarge(limitBytes)
    requireJson(request.header('content-type'))
    const { value } = request.parsed
    return { value, text: undefined, isTooDeep: isDeeper(value, maxDepth) }
  }
  const text = await request.body(limitBytes)
  if (text === '') return undefined
  requireJson(request.header('content-type'))
  return parseJson(text)
}

export interface JsonBody {
  readonly value: unknown
  /** As it came, where we read it ourselves. */
  readonly text: string | undefined
  /** Its own keys may be read, so that a refusal carries the id of the request, and nothing below them. */
  readonly isTooDeep: boolean
}

export function parseJson(text: string): JsonBody {
  try {
    const value: unknown = JSON.parse(text)
    return { value, text, isTooDeep: isDeeper(value, maxDepth) }
  } catch {
    // The parser's own words quote the body, and a body may hold a secret.
    throw new A2AError('PARSE_ERROR', 'Invalid JSON payload')
  }
}

function requireJson(contentType: string | undefined): void {
  // The two ways nearly everybody spells it, before any cutting of strings.
  if (contentType === 'application/json' || contentType === 'application/a2a+json') return
  // A body without a type is refused as well: a page elsewhere can make a browser send such a request unasked.
  const semicolon = contentType?.indexOf(';') ?? -1
  const type = (semicolon < 0 ? contentType : contentType?.slice(0, semicolon))?.trim().toLowerCase()
  if (type !== undefined && accepted.has(type)) return
  throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json or application/a2a+json')
}

export function tooLarge(limitBytes: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `The body is larger than ${limitBytes} bytes`)
}

export function tooDeep(): A2AError {
  return new A2AError('INVALID_PARAMS', `Invalid parameters: the body is nested deeper than ${maxDepth} levels`)
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeper(item, levels - 1)) return true
    return false
  }
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true
  return false
}
