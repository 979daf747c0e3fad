/** Streams as the checks judge them: read to their end, or until an agent has had the time to end them. */
import { NotApplicable, Undecided } from './check.ts'
import type { StreamAnswer, StreamItem, Subject } from './subject.ts'
import { describeError } from './wire/read-error.ts'
import { interruptedStates, terminalStates, type ArtifactView, type TaskView } from './wire/read-response.ts'

export interface RecordedStream {
  readonly stream: StreamAnswer
  readonly items: readonly StreamItem[]
  /** The last state that the stream showed. */
  readonly lastState: string | undefined
  /** Whether it was still open when the time to end it was over. */
  readonly isOpen: boolean
}

/** How long an agent may take for what it must do at once: to end a stream after the last event, or to call a webhook. */
export const patienceMs = (subject: Pick<Subject, 'quietMs'>): number => subject.quietMs * 10

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

/**
 * Reads a stream to its end. When its task has ended or waits for the client, the agent has `patienceMs` to close it, and for
 * `isEnough` it is closed at once.
 */
export async function recordStream(
  stream: StreamAnswer,
  subject: Subject,
  isEnough: (item: StreamItem) => boolean = () => false,
): Promise<RecordedStream> {
  let lastState: string | undefined
  let isSettled = false
  for (;;) {
    const next = await nextItem(stream, isSettled ? patienceMs(subject) : undefined)
    if (next === 'end' || next === 'silence') {
      if (next === 'silence') stream.close()
      return { stream, items: stream.received, lastState, isOpen: next === 'silence' }
    }
    lastState = stateOf(next) ?? lastState
    isSettled ||= next.view.kind === 'message' || terminalStates.has(lastState) || interruptedStates.has(lastState)
    if (isEnough(next)) {
      stream.close()
      return { stream, items: stream.received, lastState, isOpen: true }
    }
  }
}

/** The next event; `silence` if none came in that time. */
export async function nextItem(stream: StreamAnswer, withinMs?: number): Promise<StreamItem | 'end' | 'silence'> {
  const next = stream.events.next().then((result) => (result.done === true ? ('end' as const) : result.value))
  if (withinMs === undefined) return next
  const { promise, resolve } = Promise.withResolvers<'silence'>()
  const timer = setTimeout(resolve, withinMs, 'silence' as const)
  try {
    return await Promise.race([next, promise])
  } finally {
    clearTimeout(timer)
  }
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
