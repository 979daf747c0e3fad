/** The log events within a span: of many, the first and the last, and the number in between. */
import type { Message, Part, Struct } from '@parley/a2a'
import { spanIdOfEvent } from '@parley/a2a/internal'
import type { LogRecord } from '@parley/a2a/stores'
import type { TraceEvent } from './trace-types.ts'

const eventsPerEnd = 64
const maxTextLength = 200

/** Its span id is derived from its position, and only when read: most events of a long answer are dropped again. */
type LoggedEvent = Omit<TraceEvent, 'spanId'>

export class EventLog {
  readonly #taskId: string
  readonly #first: LoggedEvent[] = []
  #last: LoggedEvent[] = []
  #count = 0

  constructor(taskId: string) {
    this.#taskId = taskId
  }

  add(event: LoggedEvent): void {
    this.#count += 1
    if (this.#first.length < eventsPerEnd) this.#first.push(event)
    else this.#last.push(event)
    // Truncated in steps, so that an event is moved once on average.
    if (this.#last.length >= 2 * eventsPerEnd) this.#last = this.#last.slice(-eventsPerEnd)
  }

  get events(): readonly TraceEvent[] {
    const kept = [...this.#first, ...this.#last.slice(-eventsPerEnd)]
    return kept.map((event) => ({ ...event, spanId: spanIdOfEvent(this.#taskId, event.seq) }))
  }

  get dropped(): number {
    return this.#count - this.#first.length - Math.min(this.#last.length, eventsPerEnd)
  }
}

/** The event of a record, without its content; `undefined` for records that are spans. */
export function traceEventOf({ seq, at, body }: LogRecord): LoggedEvent | undefined {
  const made = (name: string, attributes: Struct): LoggedEvent => ({
    seq,
    name,
    at,
    attributes: { seq, ...attributes },
  })
  switch (body.type) {
    case 'status':
      return made('status', { state: body.status.state, ...sizeOf(body.status.message) })
    case 'artifact': {
      const { artifact, append, lastChunk } = body
      const about = { artifactId: artifact.artifactId, parts: artifact.parts.length, chars: charsOf(artifact.parts) }
      return made('artifact', { ...about, ...(append ? { append } : {}), ...(lastChunk ? { lastChunk } : {}) })
    }
    case 'message':
      return made('message', { messageId: body.message.messageId, ...sizeOf(body.message) })
    case 'question':
      return made('question', { questionId: body.questionId })
    case 'answer':
      return made('answer', { questionId: body.questionId, messageSeq: body.messageSeq })
    case 'steered':
      return made('steered', { messageSeq: body.messageSeq })
    case 'checkpoint':
      return made('checkpoint', {})
    case 'stored':
      return made('stored', { key: body.key })
    case 'cancel':
      return made('cancel', {})
    case 'note':
      return made('note', { text: body.text.slice(0, maxTextLength) })
    case 'turn-started':
    case 'turn-ended':
    case 'span':
      return undefined
  }
}

function sizeOf(message: Message | undefined): Struct {
  return message === undefined ? {} : { parts: message.parts.length, chars: charsOf(message.parts) }
}

function charsOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + ('text' in part ? part.text.length : 0), 0)
}
