/**
 * The frames of the gateway's protocol. Read with tolerance: its published schema is closed and behind what it sends, so
 * nothing here is refused because it has a field too many or too few.
 */
export type Fields = Readonly<Record<string, unknown>>

export interface GatewayEvent {
  readonly event: string
  readonly payload: Fields
  /** Counts the events of one connection. */
  readonly seq?: number
}

/** `ok` says only whether the request was understood: how a run ended is in `payload.status`. */
export type Answer =
  | { readonly ok: true; readonly payload: Fields }
  | { readonly ok: false; readonly payload: Fields; readonly error: Refusal }

export interface Refusal {
  readonly code: string
  /** For the operator: it may name hosts and paths. */
  readonly message: string
  readonly details: Fields
  readonly retryAfterMs?: number
  readonly retryable: boolean
}

export type Frame = { readonly event: GatewayEvent } | { readonly id: string; readonly answer: Answer }

/** Nothing for what is no frame: the gateway ignores such a thing, too. */
export function readFrame(text: string): Frame | undefined {
  const frame = parsed(text)
  const given = frame['payload']
  // A few methods answer with a bare list.
  const payload = Array.isArray(given) ? { list: given } : fieldsOf(given)
  if (frame['type'] === 'event') {
    const event = textIn(frame, 'event')
    const seq = numberIn(frame, 'seq')
    if (event === undefined) return undefined
    return { event: { event, payload, ...(seq !== undefined ? { seq } : {}) } }
  }
  const id = textIn(frame, 'id')
  if (frame['type'] !== 'res' || id === undefined) return undefined
  if (frame['ok'] === true) return { id, answer: { ok: true, payload } }
  return { id, answer: { ok: false, payload, error: refusalIn(fieldsOf(frame['error'])) } }
}

function parsed(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return {}
  }
}

function refusalIn(error: Fields): Refusal {
  const retryAfterMs = numberIn(error, 'retryAfterMs')
  return {
    code: textIn(error, 'code') ?? 'UNKNOWN',
    message: textIn(error, 'message') ?? 'no reason given',
    details: fieldsOf(error['details']),
    retryable: error['retryable'] === true || retryAfterMs !== undefined,
    ...(retryAfterMs !== undefined ? { retryAfterMs } : {}),
  }
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function textIn(fields: Fields, key: string): string | undefined {
  const value = fields[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function numberIn(fields: Fields, key: string): number | undefined {
  const value = fields[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

export function listIn(fields: Fields, key: string): readonly Fields[] {
  const value = fields[key]
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

export function textsIn(fields: Fields, key: string): readonly string[] {
  const value = fields[key]
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}

/** The text of a message of a transcript or of a chat event: a string, or a list of blocks. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map(fieldsOf)
    .flatMap((block) => (block['type'] === 'text' ? [textIn(block, 'text') ?? ''] : []))
    .join('')
}
