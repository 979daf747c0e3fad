/** Streams as the checks judge them: read to their end, or until an agent has done something later instead of ending them. */
import { NotApplicable, Undecided } from './check.ts'
import type { StreamAnswer, StreamItem, Subject } from './subject.ts'
import { describeError } from './wire/read-error.ts'
import { interruptedStates, terminalStates, type ArtifactView, type TaskView } from './wire/read-response.ts'

export interface RecordedStream {
  readonly stream: StreamAnswer
  readonly items: readonly StreamItem[]
  /** The last state that the stream showed. */
  readonly lastState: string | undefined
  /** Whether it was still open when the agent had answered a later message: an agent that is only slow ends it before. */
  readonly isOpen: boolean
}

export interface RecordOptions {
  /** Closes the stream after this event. */
  readonly isEnough?: (item: StreamItem) => boolean
  /** Whether the task has already ended. */
  readonly isSettled?: boolean
  /** How long the agent has to end the stream once its task has ended or waits. Default `patienceMs`. */
  readonly withinMs?: number
}

/** Throws `NotApplicable` if the card declares no streaming. */
export function requireStreaming({ capabilities }: Subject): void {
  if (!capabilities.streaming) throw new NotApplicable('the card does not declare streaming')
}

/** The answer to a streamed ordinary message, asked once per interface: a stream, or an error. */
export function ordinaryAnswer(subject: Subject): Promise<RecordedStream> {
  requireStreaming(subject)
  return subject.once('ordinary stream', async () => {
    const scenario = subject.hasScenario('stream') ? 'stream' : 'complete'
    const stream = await subject.open('SendStreamingMessage', { message: subject.message(scenario) })
    return recordStream(stream, subject)
  })
}

/** The same, if it is a stream. Throws `Undecided` otherwise. */
export async function ordinaryStream(subject: Subject): Promise<RecordedStream> {
  const recorded = await ordinaryAnswer(subject)
  requireStream(recorded.stream)
  return recorded
}

/** Throws `Undecided` if the response is no stream: that is a failure of `streaming.opens`. */
export function requireStream({ answer }: StreamAnswer): void {
  if (answer === undefined) return
  const why =
    answer.error === undefined ? (answer.malformed ?? 'the response is no stream') : describeError(answer.error)
  throw new Undecided(`there is no stream to judge: ${why}`)
}

/** The id of the task that a stream is about. Throws `Undecided` for the stream of a message. */
export function taskIdOf(items: readonly StreamItem[]): string {
  for (const { view } of items) {
    const id =
      view.kind === 'task' ? view.task.id : view.kind === 'status' || view.kind === 'artifact' ? view.taskId : undefined
    if (id !== undefined) return id
  }
  throw new Undecided('the stream is about no task')
}

export function stateOf({ view }: StreamItem): string | undefined {
  return view.kind === 'task' ? view.task.state : view.kind === 'status' ? view.state : undefined
}

/** Reads a stream to its end. Throws `Undecided` if the check has no time left for it. */
export async function recordStream(
  stream: StreamAnswer,
  subject: Subject,
  { isEnough = () => false, isSettled = false, withinMs = subject.patienceMs }: RecordOptions = {},
): Promise<RecordedStream> {
  const settles = (item: StreamItem): boolean =>
    item.view.kind === 'message' || terminalStates.has(stateOf(item)) || interruptedStates.has(stateOf(item))
  let isOver = isSettled
  for (;;) {
    const next = await (isOver ? untilLater(nextItem(stream), subject, withinMs) : nextItem(stream))
    // The connection ended with the time of the check, and not because the agent closed it.
    subject.signal.throwIfAborted()
    if (next === 'end' || next === undefined || isEnough(next)) {
      const isOpen = next !== 'end'
      if (isOpen) stream.close()
      const items = stream.received
      return { stream, items, lastState: items.map(stateOf).findLast((state) => state !== undefined), isOpen }
    }
    isOver ||= settles(next)
  }
}

/** What a stream that should end brings next; `undefined` if the agent answers a later message first. */
async function untilLater<T>(next: Promise<T>, subject: Subject, withinMs: number): Promise<T | undefined> {
  return (
    (await within(next, withinMs)) ??
    (await Promise.race([next, answerLater(subject)])) ??
    (await within(next, subject.quietMs))
  )
}

async function answerLater(subject: Subject): Promise<undefined> {
  const { error } = await subject.send('complete')
  if (error !== undefined) throw new Undecided(`the agent refuses a later message: ${describeError(error)}`)
}

/** The next event. */
export async function nextItem(stream: StreamAnswer): Promise<StreamItem | 'end'> {
  const next = await stream.events.next()
  return next.done === true ? 'end' : next.value
}

/** The value of a promise; `undefined` if it takes longer. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: silence, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, ms, undefined)
  return Promise.race([promise, silence]).finally(() => clearTimeout(timer))
}

/** The texts of the artifacts that a stream adds up to, by id. */
export function foldArtifacts(items: readonly StreamItem[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const { view } of items) {
    if (view.kind === 'task')
      for (const artifact of view.task.artifacts) texts.set(artifact.artifactId ?? '', contentOf(artifact))
    if (view.kind !== 'artifact') continue
    const id = view.artifact.artifactId ?? ''
    texts.set(id, `${view.append ? (texts.get(id) ?? '') : ''}${contentOf(view.artifact)}`)
  }
  return texts
}

export const artifactsOf = ({ artifacts }: TaskView): ReadonlyMap<string, string> =>
  new Map(artifacts.map((artifact) => [artifact.artifactId ?? '', contentOf(artifact)]))

/** Text as it reads; other parts as JSON. Chunks of one text compare equal to the whole text. */
function contentOf({ parts }: ArtifactView): string {
  return parts.map((part) => (typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part))).join('')
}
