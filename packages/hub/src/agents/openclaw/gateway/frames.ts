/**
 * The frames of the gateway's protocol. Parsing is tolerant: its published schema is closed and behind what it sends, so
 * extra or missing fields are accepted.
 */
import { isStruct } from '@parley/a2a/internal'

export type GatewayFields = Readonly<Record<string, unknown>>

export interface GatewayEvent {
  readonly event: string
  readonly payload: GatewayFields
  /** Counts the events of one connection. */
  readonly seq?: number
}

/** `ok` only means that the request was understood: `payload.status` is how a run ended. */
export type GatewayResponse =
  | { readonly ok: true; readonly payload: GatewayFields }
  | { readonly ok: false; readonly payload: GatewayFields; readonly error: GatewayError }

export interface GatewayError {
  readonly code: string
  /** For the operator: it may contain hosts and paths. */
  readonly message: string
  readonly details: GatewayFields
  readonly retryAfterMs?: number
  readonly retryable: boolean
}

export type GatewayFrame = { readonly event: GatewayEvent } | { readonly id: string; readonly answer: GatewayResponse }

/** Undefined for anything that is not a frame; the gateway ignores those too. */
export function parseFrame(text: string): GatewayFrame | undefined {
  const frame = parsed(text)
  const given = frame['payload']
  // A few methods answer with a bare list.
  const payload = Array.isArray(given) ? { list: given } : asFields(given)
  if (frame['type'] === 'event') {
    const event = stringField(frame, 'event')
    const seq = numberField(frame, 'seq')
    if (event === undefined) return undefined
    return { event: { event, payload, ...(seq !== undefined ? { seq } : {}) } }
  }
  const id = stringField(frame, 'id')
  if (frame['type'] !== 'res' || id === undefined) return undefined
  if (frame['ok'] === true) return { id, answer: { ok: true, payload } }
  return { id, answer: { ok: false, payload, error: parseGatewayError(asFields(frame['error'])) } }
}

function parsed(text: string): GatewayFields {
  try {
    return asFields(JSON.parse(text))
  } catch {
    return {}
  }
}

function parseGatewayError(error: GatewayFields): GatewayError {
  const retryAfterMs = numberField(error, 'retryAfterMs')
  return {
    code: stringField(error, 'code') ?? 'UNKNOWN',
    message: stringField(error, 'message') ?? 'no reason given',
    details: asFields(error['details']),
    retryable: error['retryable'] === true || retryAfterMs !== undefined,
    ...(retryAfterMs !== undefined ? { retryAfterMs } : {}),
  }
}

export function asFields(value: unknown): GatewayFields {
  return isStruct(value) ? value : {}
}

export function stringField(fields: GatewayFields, key: string): string | undefined {
  const value = fields[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function numberField(fields: GatewayFields, key: string): number | undefined {
  const value = fields[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

export function listField(fields: GatewayFields, key: string): readonly GatewayFields[] {
  const value = fields[key]
  return Array.isArray(value) ? value.map(asFields) : []
}

export function stringListField(fields: GatewayFields, key: string): readonly string[] {
  const value = fields[key]
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}

/** The text of a message of a transcript or of a chat event: a string, or a list of blocks. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map(asFields)
    .flatMap((block) => (block['type'] === 'text' ? [stringField(block, 'text') ?? ''] : []))
    .join('')
}
