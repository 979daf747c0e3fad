/**
 * Applies the `transformEvent` of the server's author to the reports of an agent before they are logged (S2-33). The result is
 * validated like a report, and as a whole: if the first chunk of an artifact was dropped, the next chunk becomes the first.
 */
import { A2AError } from '../../model/error.ts'
import type { TaskState } from '../../model/state.ts'
import type { Message, StreamEvent } from '../../model/task.ts'
import type { EventContext, TransformEvent } from '../contract.ts'
import { type InterpretedReport, ReportInterpreter } from './report-interpreter.ts'
import { eventContextOf } from '../task/log-events.ts'
import type { TaskRunDeps } from './turn-input.ts'

/** Most agents have none. */
export function createEventTransformer(
  { entry, loaded, jsonNodes }: TaskRunDeps,
  turn: number,
): EventTransformer | undefined {
  const { transformEvent } = entry
  if (transformEvent === undefined) return undefined
  return new EventTransformer(
    transformEvent,
    eventContextOf(loaded),
    new ReportInterpreter(loaded.fold, turn, jsonNodes),
  )
}

export class EventTransformer {
  readonly #transform: TransformEvent
  readonly #about: EventContext
  /** Tracks the transformed reports, as the turn's own interpreter tracks the reports of the agent. */
  readonly #interpreter: ReportInterpreter

  constructor(transform: TransformEvent, about: EventContext, interpreter: ReportInterpreter) {
    this.#transform = transform
    this.#about = about
    this.#interpreter = interpreter
  }

  /** What to log instead; `undefined` drops it. An error here fails the task, and the caller learns nothing of it. */
  async apply(said: InterpretedReport): Promise<InterpretedReport | undefined> {
    try {
      const event = await this.#transform(eventOfReport(said, this.#about), this.#about)
      if (event === undefined || event === null) return undefined
      const read = this.#read(event)
      const hasCause = said.kind === 'state' && read.kind === 'state' && said.cause !== undefined
      return hasCause ? { ...read, cause: said.cause } : read
    } catch (cause) {
      throw new A2AError('INTERNAL', 'transformEvent failed', {}, { cause })
    }
  }

  /** A question in the middle of a turn may be rewritten but not dropped: the agent waits for its answer. */
  async question(state: TaskState, message: Message): Promise<Message> {
    const said = await this.apply({ kind: 'state', state, message })
    return said?.kind === 'state' && said.message !== undefined ? said.message : message
  }

  #read(event: StreamEvent): InterpretedReport {
    if ('artifactUpdate' in event) {
      const { artifact, append, lastChunk, metadata } = event.artifactUpdate
      const isBegun = this.#interpreter.hasArtifact(artifact.artifactId)
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

function eventOfReport(said: InterpretedReport, { taskId, contextId }: EventContext): StreamEvent {
  if (said.kind === 'reply') return { message: said.message }
  if (said.kind === 'artifact') {
    const { type: _, ...chunk } = said.body
    return { artifactUpdate: { taskId, contextId, ...chunk } }
  }
  const { state, message, metadata } = said
  const status = { state, ...(message !== undefined ? { message } : {}) }
  return { statusUpdate: { taskId, contextId, status, ...(metadata !== undefined ? { metadata } : {}) } }
}
