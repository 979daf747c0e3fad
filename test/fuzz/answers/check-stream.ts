/** Checks server-sent events: one JSON document each, increasing cursors, a valid first and last event. */
import type { JsonObject } from './shape.ts'
import { complaintsOf, isJsonObject } from './shape.ts'
import type { Binding, VersionId } from './tables.ts'
import { shapesOf } from './tables.ts'

interface Frame {
  readonly id: number | undefined
  readonly isError: boolean
  readonly document: unknown
}

export interface StreamVerdict {
  readonly complaints: readonly string[]
  /** Nothing more may come: a stream that is still open hangs. */
  readonly isOver: boolean
}

export interface StreamQuestion {
  readonly text: string
  readonly version: VersionId
  readonly binding: Binding
  /** Whether the first event must be a Task or a Message, as without a cursor it must (B-89, B-105). */
  readonly startsWithSnapshot: boolean
  /** Unwraps the envelope of a document; violations go to the list. An error inside is `failed`. */
  open(document: unknown, complaints: string[]): unknown
}

export const failedStream = Symbol('failed')

export function checkStream({ text, version, binding, startsWithSnapshot, open }: StreamQuestion): StreamVerdict {
  const complaints: string[] = []
  const frames = readFrames(text, complaints)
  const opened = frames.filter(({ isError }) => !isError).map(({ document }) => open(document, complaints))
  const events = opened.filter((one) => one !== failedStream)
  const hasFailed = frames.some(({ isError }) => isError) || opened.includes(failedStream)
  const { event } = shapesOf(version, binding)
  events.forEach((one, index) => complaints.push(...complaintsOf(event, one, `event ${index + 1}`)))
  checkCursors(frames, complaints)
  const kinds = events.map(kindOf)
  const [first] = kinds
  if (startsWithSnapshot && first !== undefined && first !== 'task' && first !== 'message') {
    complaints.push(`the stream begins with ${first}`)
  }
  if (kinds.includes('message') && kinds.length > 1) complaints.push('a message shares its stream with other events')
  const last = events.at(-1)
  const isOver = hasFailed || kinds.includes('message') || isFinal(last, version)
  return { complaints, isOver }
}

function readFrames(text: string, complaints: string[]): Frame[] {
  // A partial frame does not count.
  const blocks = text.split('\n\n').slice(0, -1)
  return blocks.flatMap((block): Frame[] => {
    const lines = block.split('\n').filter((line) => !line.startsWith(':'))
    if (lines.length === 0) return []
    const strange = lines.filter((line) => !/^(id: \d+|event: error|data: [^\r]*)$/.test(line))
    if (strange.length > 0) complaints.push(`the stream has the line ${JSON.stringify(strange[0]?.slice(0, 60))}`)
    const data = lines.filter((line) => line.startsWith('data: '))
    if (data.length !== 1) complaints.push(`an event has ${data.length} data lines`)
    const id = lines.find((line) => line.startsWith('id: '))
    const document = parse(data[0]?.slice(6) ?? '', complaints)
    return [
      { id: id === undefined ? undefined : Number(id.slice(4)), isError: lines.includes('event: error'), document },
    ]
  })
}

function parse(json: string, complaints: string[]): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    complaints.push('an event is not JSON')
    return undefined
  }
}

function checkCursors(frames: readonly Frame[], complaints: string[]): void {
  const ids = frames.flatMap(({ id }) => (id === undefined ? [] : [id]))
  if (ids.some((id, index) => index > 0 && id <= (ids[index - 1] as number))) complaints.push('cursors do not grow')
}

function kindOf(event: unknown): string | undefined {
  if (!isJsonObject(event)) return undefined
  return typeof event['kind'] === 'string' ? event['kind'] : Object.keys(event)[0]
}

/** The state after which this stream is closed, as far as the event alone can tell. */
function isFinal(event: unknown, version: VersionId): boolean {
  if (!isJsonObject(event)) return false
  const inner = (event['statusUpdate'] ?? event['task'] ?? event) as JsonObject
  if (version !== '1.0' && inner['final'] === true) return true
  const status = inner['status']
  const state = isJsonObject(status) ? status['state'] : undefined
  return typeof state === 'string' && /^(task_state_)?(completed|failed|cancell?ed|rejected)$/i.test(state)
}
