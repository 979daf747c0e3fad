/** What an event of the log says, in one line. */
import type { Message, Part } from '@parley/a2a'
import type { LogRecord } from '../../api/admin.ts'
import { bytes, duration, many } from '../../parts/words.ts'
import { bodyOf } from './fold-events.ts'

const longest = 300

export function wordsOf(record: LogRecord): string {
  return oneLine(rawWords(record))
}

function rawWords(record: LogRecord): string {
  const body = bodyOf(record)
  switch (body.type) {
    case 'status':
      return textIn(body.status.message?.parts ?? [])
    case 'artifact': {
      const { artifact, append = false, lastChunk = false } = body
      const name = artifact.name ?? artifact.artifactId
      return `${name}${append ? ' +' : ''} ${textIn(artifact.parts)}${lastChunk ? ' (last chunk)' : ''}`
    }
    case 'message':
      return `${speaker(body.message)}: ${textIn(body.message.parts)}`
    case 'turn-started':
      return `turn ${body.turn} begins${body.attempt > 1 ? ` again, attempt ${body.attempt}` : ''}`
    case 'turn-ended':
      return `turn ${body.turn} ends${body.reason === undefined ? '' : `: ${body.reason}`}`
    case 'checkpoint':
      return JSON.stringify(body.data)
    case 'question':
      return `turn ${body.turn} asks and waits`
    case 'answer':
      return body.messageSeq === 0 ? 'nobody answered in time' : `answered by event ${body.messageSeq}`
    case 'steered':
      return `event ${body.messageSeq} was handed to the turn that ran`
    case 'cancel':
      return 'somebody asked to cancel it'
    case 'note':
      return body.text
    case 'span': {
      const { kind, name, startedAt, endedAt, outcome } = body.span
      return `${kind} ${name}, ${duration(endedAt - startedAt)}, ${outcome}`
    }
    // A hub that is newer than this page may log what it does not know.
    default:
      return JSON.stringify(record.body)
  }
}

/** Of a status, which state it is; else nothing. */
export function stateIn(record: LogRecord): string | undefined {
  const body = bodyOf(record)
  return body.type === 'status' ? body.status.state : undefined
}

function speaker({ role }: Message): string {
  return role === 'ROLE_AGENT' ? 'agent' : 'user'
}

export function textIn(parts: readonly Part[]): string {
  return parts.map(partText).join(' ')
}

function partText(part: Part): string {
  if ('text' in part) return part.text
  if ('data' in part) return JSON.stringify(part.data)
  const name = part.filename ?? part.mediaType ?? 'file'
  return 'url' in part ? `[${name} at ${part.url}]` : `[${name}, ${bytes(Math.floor((part.raw.length * 3) / 4))}]`
}

function oneLine(text: string): string {
  const line = text
    .slice(0, longest * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length <= longest ? line : `${line.slice(0, longest)}…`
}

/** Of all that the log holds: what is looked for may stand anywhere in it. */
export function holds(record: LogRecord, text: string): boolean {
  return text === '' || JSON.stringify(record.body).toLowerCase().includes(text.toLowerCase())
}

/** `12 events, 3 of them seen`. */
export function countWords(shown: number, all: number): string {
  return shown === all ? many(all, 'event') : `${shown.toLocaleString('en-US')} of ${many(all, 'event')}`
}
