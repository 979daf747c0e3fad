/** A one-line summary of a log event. */
import type { Message, Part } from '@parley/a2a'
import type { LogRecord } from '../../../api/admin.ts'
import { formatBytes, formatDuration } from '../../../components/format.ts'
import { recordBody } from './fold-events.ts'

const maxSummaryLength = 300

export function eventSummary(record: LogRecord): string {
  return oneLine(fullSummary(record))
}

function fullSummary(record: LogRecord): string {
  const body = recordBody(record)
  switch (body.type) {
    case 'status':
      return summarizeParts(body.status.message?.parts ?? [])
    case 'artifact': {
      const { artifact, append = false, lastChunk = false } = body
      const name = artifact.name ?? artifact.artifactId
      return `${name}${append ? ' +' : ''} ${summarizeParts(artifact.parts)}${lastChunk ? ' (last chunk)' : ''}`
    }
    case 'message':
      return `${speaker(body.message)}: ${summarizeParts(body.message.parts)}`
    case 'turn-started':
      return body.attempt > 1 ? `turn ${body.turn} started again, attempt ${body.attempt}` : `turn ${body.turn} started`
    case 'turn-ended':
      return `turn ${body.turn} ended${body.reason === undefined ? '' : `: ${body.reason}`}`
    case 'checkpoint':
      return JSON.stringify(body.data)
    case 'question':
      return `turn ${body.turn} waits for an answer`
    case 'answer':
      return body.messageSeq === 0 ? 'no answer in time' : `answered by event ${body.messageSeq}`
    case 'steered':
      return `event ${body.messageSeq} was passed to the running turn`
    case 'cancel':
      return 'cancellation requested'
    case 'note':
      return body.text
    case 'span': {
      const { kind, name, startedAt, endedAt, outcome } = body.span
      return `${kind} ${name}, ${formatDuration(endedAt - startedAt)}, ${outcome}`
    }
    case 'stored':
      return body.value === undefined ? `${body.key} deleted` : `${body.key}: ${JSON.stringify(body.value)}`
  }
  // Every type has its case, or this line does not compile. Of a record that a newer hub wrote, the list shows the type.
  body satisfies never
  return ''
}

/** The state of a status event; otherwise `undefined`. */
export function eventState(record: LogRecord): string | undefined {
  const body = recordBody(record)
  return body.type === 'status' ? body.status.state : undefined
}

function speaker({ role }: Message): string {
  return role === 'ROLE_AGENT' ? 'agent' : 'user'
}

export function summarizeParts(parts: readonly Part[]): string {
  return parts.map(partText).join(' ')
}

function partText(part: Part): string {
  if ('text' in part) return part.text
  if ('data' in part) return JSON.stringify(part.data)
  const name = part.filename ?? part.mediaType ?? 'file'
  return 'url' in part ? `[${name} at ${part.url}]` : `[${name}, ${formatBytes(Math.floor((part.raw.length * 3) / 4))}]`
}

function oneLine(text: string): string {
  const line = text
    .slice(0, maxSummaryLength * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length <= maxSummaryLength ? line : `${line.slice(0, maxSummaryLength)}…`
}

/** Searches the whole record. */
export function eventContains(record: LogRecord, text: string): boolean {
  return text === '' || JSON.stringify(record.body).toLowerCase().includes(text.toLowerCase())
}
