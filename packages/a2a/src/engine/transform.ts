/**
 * What a server's author makes of what an agent says, before it is logged (S2-33). What comes out is checked as if the
 * agent had said it, and as one whole: where the beginning of an artifact was dropped, its next chunk is the beginning.
 */
import { A2AError } from '../model/error.ts'
import type { TaskState } from '../model/state.ts'
import type { Message, StreamEvent } from '../model/task.ts'
import type { EventAbout, TransformEvent } from './contract.ts'
import type { Said } from './report.ts'
import { Interpreter } from './report.ts'
import { aboutOf } from './teller.ts'
import type { RunParts } from './turn-input.ts'

/** Most agents have none. */
export function transformerOf({ entry, live, jsonNodes }: RunParts, turn: number): Transformer | undefined {
  const { transformEvent } = entry
  if (transformEvent === undefined) return undefined
  return new Transformer(transformEvent, aboutOf(live), new Interpreter(live.fold, turn, jsonNodes))
}

export class Transformer {
  readonly #transform: TransformEvent
  readonly #about: EventAbout
  /** Knows what was let through, as the turn's own knows what the agent said. */
  readonly #interpreter: Interpreter

  constructor(transform: TransformEvent, about: EventAbout, interpreter: Interpreter) {
    this.#transform = transform
    this.#about = about
    this.#interpreter = interpreter
  }

  /** What is to be said instead; nothing if it is dropped. Whatever fails here fails the task, and the caller learns nothing of it. */
  async apply(said: Said): Promise<Said | undefined> {
    try {
      const event = await this.#transform(eventOf(said, this.#about), this.#about)
      return event === undefined || event === null ? undefined : this.#read(event)
    } catch (cause) {
      throw new A2AError('INTERNAL', 'transformEvent failed', {}, { cause })
    }
  }

  /** A question in the middle of a turn may be put otherwise, but not left out: the agent waits for its answer. */
  async question(state: TaskState, message: Message): Promise<Message> {
    const said = await this.apply({ kind: 'state', state, message })
    return said?.kind === 'state' && said.message !== undefined ? said.message : message
  }

  #read(event: StreamEvent): Said {
    if ('artifactUpdate' in event) {
      const { artifact, append, lastChunk, metadata } = event.artifactUpdate
      const isBegun = this.#interpreter.knows(artifact.artifactId)
      return this.#interpreter.read({ artifact, append: append === true && isBegun, lastChunk, metadata }, false)
    }
    if ('statusUpdate' in event) {
      const { status, metadata } = event.statusUpdate
      return this.#interpreter.read({ state: status.state, message: status.message, metadata }, false)
    }
    if ('message' in event) return this.#interpreter.read({ reply: event.message }, false)
    throw new Error('an event is a statusUpdate, an artifactUpdate or a message')
  }
}

function eventOf(said: Said, { taskId, contextId }: EventAbout): StreamEvent {
  if (said.kind === 'reply') return { message: said.message }
  if (said.kind === 'artifact') {
    const { type: _, ...chunk } = said.body
    return { artifactUpdate: { taskId, contextId, ...chunk } }
  }
  const { state, message, metadata } = said
  const status = { state, ...(message !== undefined ? { message } : {}) }
  return { statusUpdate: { taskId, contextId, status, ...(metadata !== undefined ? { metadata } : {}) } }
}
