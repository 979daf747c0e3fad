/** What was logged within a span: of many events the first and the last, and how many were in between. */
import { spanIdOfEvent } from '@parley/a2a'
import type { LogRecord, Message, Part, Struct } from '@parley/a2a'
import type { TraceEvent } from './contract.ts'

const keptAtEachEnd = 64
const longestText = 200

/** Its span is told by its place, and only where somebody looks: most events of a long answer are dropped again. */
type Noted = Omit<TraceEvent, 'spanId'>

export class EventLog {
  readonly #taskId: string
  readonly #first: Noted[] = []
  #last: Noted[] = []
  #count = 0

  constructor(taskId: string) {
    this.#taskId = taskId
  }

  add(event: Noted): void {
    this.#count += 1
    if (this.#first.length < keptAtEachEnd) this.#first.push(event)
    else this.#last.push(event)
    // Cut now and then, so that an event is moved once on average.
    if (this.#last.length >= 2 * keptAtEachEnd) this.#last = this.#last.slice(-keptAtEachEnd)
  }

  get events(): readonly TraceEvent[] {
    const kept = [...this.#first, ...this.#last.slice(-keptAtEachEnd)]
    return kept.map((event) => ({ ...event, spanId: spanIdOfEvent(this.#taskId, event.seq) }))
  }

  get dropped(): number {
    return this.#count - this.#first.length - Math.min(this.#last.length, keptAtEachEnd)
  }
}

/** The event that a record is, without what was said; nothing for those that are spans. */
export function eventOf({ seq, at, body }: LogRecord): Noted | undefined {
  const made = (name: string, attributes: Struct): Noted => ({
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
    case 'cancel':
      return made('cancel', {})
    case 'note':
      return made('note', { text: body.text.slice(0, longestText) })
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
