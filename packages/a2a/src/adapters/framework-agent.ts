/**
 * An agent over a framework. This file has what all adapters share: it reads the checkpoint, asks and reads answers, runs the
 * framework under the signal of the turn, and writes its reports and durable steps in order. An adapter starts a run and translates
 * its events.
 *
 * A checkpoint holds the last durable step of the turn, or the run that waits for an answer.
 */
import type { AbandonedTask, Agent, Report, Turn } from '../agents/agent.ts'
import { fail, inputRequired } from '../agents/reports.ts'
import { isStruct } from '../model/struct.ts'
import type { Json } from '../model/task.ts'
import type { AdapterOptions } from './adapter-options.ts'
import { toJson } from './bounded-json.ts'
import { withCurrentTurn } from './current-turn.ts'
import { openQuestion, questionMessage, readAnswer, type PausedRun, type RunAnswer } from './questions.ts'
import { RunRecorder } from './run-recorder.ts'

/** How a run begins. The first that is set applies: `step`, `paused`, the message of the turn. */
export interface RunStart {
  readonly turn: Turn
  /** The last durable step of this turn, which a restart interrupted. */
  readonly step?: Json
  /** The run that waited, and the caller's answers to all its questions. */
  readonly paused?: { readonly state: Json; readonly answers: readonly RunAnswer[] }
}

/** A run of the framework. */
export interface FrameworkRun<Event> {
  /** Aborted work ends the iteration, by an exception or not. Left early, the iteration is closed. */
  readonly events: AsyncIterable<Event>
  /** Translates an event. */
  onEvent(event: Event, out: RunRecorder): void
  /** Called after the last event: reports what is known only then, asks questions, stores memory. */
  onEnd?(out: RunRecorder): Promise<void> | void
}

/** A framework: how to run its agent. */
export interface FrameworkAdapter<Event = unknown> {
  /** In checkpoints: a task that waits continues only with the adapter that asked. */
  readonly name: string
  start(start: RunStart, out: RunRecorder): FrameworkRun<Event> | Promise<FrameworkRun<Event>>
  /** Releases a run that waited, when its task was canceled or its input timed out. */
  release?(state: Json, task: AbandonedTask): unknown
}

/**
 * Creates the agent of a framework. The task is COMPLETED when the run ends; INPUT_REQUIRED if it asked; FAILED with a fixed text if
 * anything throws, because errors of frameworks contain addresses and keys.
 */
export function frameworkAgent<Event>(adapter: FrameworkAdapter<Event>, options: AdapterOptions = {}): Agent {
  return {
    resume: options.resume ?? 'rerun',
    run: (turn) => runTurn(adapter, options, turn),
    onAbandoned(task) {
      const paused = readCheckpoint(task.lastCheckpoint, adapter.name)?.paused
      return paused === undefined ? undefined : adapter.release?.(paused.state, task)
    },
  }
}

interface AdapterCheckpoint {
  readonly adapter: string
  readonly paused?: PausedRun
  /** `text`: how much text of the turn belongs to the steps before. */
  readonly step?: { readonly state: Json; readonly text: number }
  /** The run that waited has ended: a later message of the task is no answer to its questions. */
  readonly ended?: true
}

async function* runTurn<Event>(
  adapter: FrameworkAdapter<Event>,
  options: AdapterOptions,
  turn: Turn,
): AsyncGenerator<Report, void, void> {
  const saved = readCheckpoint(turn.resumed?.checkpoint, adapter.name)
  // The process died between the checkpoint of a question and the question.
  if (saved?.paused !== undefined) {
    yield questionReport(saved.paused)
    return
  }
  // The process died after the run, before the end of the turn.
  if (saved?.ended === true) return
  let start: RunStart = { turn, ...(saved?.step !== undefined ? { step: saved.step.state } : {}) }
  const before = readCheckpoint(turn.lastCheckpoint, adapter.name)?.paused
  const waiting = saved?.step === undefined ? before : undefined
  if (waiting !== undefined) {
    const answered = takeAnswer(waiting, turn)
    if ('report' in answered) {
      await turn.checkpoint(checkpointOf(adapter, { paused: answered.paused }))
      yield answered.report
      return
    }
    start = { turn, paused: answered }
  }
  const writeStep = (state: unknown, text: number): Promise<void> =>
    turn.checkpoint(checkpointOf(adapter, { step: { state: toJson(state), text } }))
  const out = new RunRecorder(turn, options, writeStep, textBefore(turn, saved?.step?.text))
  try {
    const run = await withCurrentTurn(turn, () => adapter.start(start, out))
    yield* runEvents(run, turn, out)
    await run.onEnd?.(out)
    yield* out.reports()
  } catch (cause) {
    if (!isTurnStoreFull(cause)) throw cause
    // The caller learns why the conversation cannot continue, and what helps.
    yield fail('This conversation has become too long for the agent. Start a new one.', { cause })
    return
  }
  if (out.questions.length > 0) {
    const paused = { state: out.pausedState, questions: out.questions, answers: [] }
    await turn.checkpoint(checkpointOf(adapter, { paused }))
    yield questionReport(paused)
  } else if (out.ending !== undefined) yield out.ending
  else if (before !== undefined) await turn.checkpoint(checkpointOf(adapter, { ended: true }))
}

async function* runEvents<Event>(
  { events, onEvent }: FrameworkRun<Event>,
  turn: Turn,
  out: RunRecorder,
): AsyncGenerator<Report, void, void> {
  const iterator = events[Symbol.asyncIterator]()
  const next = (): Promise<IteratorResult<Event>> => iterator.next()
  let isDone = false
  try {
    while (out.ending === undefined) {
      const result = await withCurrentTurn(turn, next)
      if (result.done === true) {
        isDone = true
        break
      }
      onEvent(result.value, out)
      if (out.hasReports) yield* out.reports()
    }
  } finally {
    if (!isDone) await iterator.return?.()
  }
  turn.signal.throwIfAborted()
}

/** What the caller's message means for a run that waits: the next question, or all answers. */
function takeAnswer(
  paused: PausedRun,
  { message }: Turn,
):
  | { readonly report: Report; readonly paused: PausedRun }
  | { readonly state: Json; readonly answers: readonly RunAnswer[] } {
  const question = openQuestion(paused)
  if (question === undefined) return paused
  const answer = readAnswer(question, message)
  if ('problem' in answer) {
    const isTimeout = message.metadata?.['reason'] === 'INPUT_TIMEOUT'
    const report = isTimeout
      ? fail('The question was not answered in time')
      : inputRequired(questionMessage(question, answer.problem))
    return { report, paused }
  }
  const next = { ...paused, answers: [...paused.answers, answer] }
  return openQuestion(next) === undefined ? next : { report: questionReport(next), paused: next }
}

function questionReport(paused: PausedRun): Report {
  const question = openQuestion(paused)
  return inputRequired(question === undefined ? 'The agent asks for more' : questionMessage(question))
}

/** The text of this turn that a repeated run keeps. The answer of this turn is the last one of the task. */
function textBefore({ resumed }: Turn, length = 0): string {
  if (length === 0) return ''
  const answer = resumed?.task.artifacts?.findLast(({ artifactId }) => /^answer(-\d+)?$/.test(artifactId))
  const text = (answer?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')
  return text.slice(0, length)
}

function checkpointOf({ name }: Pick<FrameworkAdapter, 'name'>, content: Omit<AdapterCheckpoint, 'adapter'>): object {
  return { adapter: name, ...content } satisfies AdapterCheckpoint
}

function readCheckpoint(data: Json | undefined, name: string): AdapterCheckpoint | undefined {
  return isStruct(data) && data['adapter'] === name ? (data as unknown as AdapterCheckpoint) : undefined
}

/** Whether an error, or one that caused it, is that of a full `turn.store`: frameworks wrap errors of their storage. */
function isTurnStoreFull(reason: unknown): boolean {
  for (let error = reason, depth = 0; error instanceof Error && depth < 10; error = error.cause, depth += 1)
    if (error.name === 'TurnStoreFullError') return true
  return false
}
