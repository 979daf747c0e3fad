/**
 * Agents of the OpenAI Agents SDK. A run is a `RunState`, which is JSON: a checkpoint holds it while an approval waits and before each
 * model call that follows tools. The store of the turn passes the items of a conversation on to the next task.
 */
import type { Agent, Turn } from '../../agents/agent.ts'
import { reject } from '../../agents/reports.ts'
import { abortable } from '../../model/signals.ts'
import { isStruct } from '../../model/struct.ts'
import type { Json } from '../../model/task.ts'
import type { AdapterOptions } from '../adapter-options.ts'
import { type FrameworkRun, type RunStart, frameworkAgent } from '../framework-agent.ts'
import type { RunAnswer } from '../questions.ts'
import type { RunRecorder } from '../run-recorder.ts'
import { earlierItems, messageItem, rememberItems } from './input-items.ts'
import { eventReporter, parseArguments } from './report-events.ts'
import {
  isGuardrailError,
  type Interruption,
  type ModelInputFilter,
  type OpenAIAgent,
  type OpenAIRunner,
  type OpenAIRunState,
  type RunEvent,
  type RunOptions,
  type StreamedRun,
} from './run-events.ts'

/** Options of `fromOpenAIAgents`. */
export interface FromOpenAIAgentsOptions extends AdapterOptions {
  /** `Runner` of the copy of `@openai/agents` that the agent is from. */
  readonly Runner: new (config: never) => OpenAIRunner
  /** `RunState` of the same copy. */
  readonly RunState: { fromString(agent: never, text: string): PromiseLike<OpenAIRunState> }
  /** The configuration of the runner: model provider, guardrails, tracing. Default: tracing disabled. */
  readonly runConfig?: object
  /** The context of the run, which tools get. It is JSON, because a run that waits is stored with it. */
  readonly context?: (turn: Turn) => unknown
  /** How often a run calls the model at most. Default: that of the SDK, 10. */
  readonly maxTurns?: number
  /** Your own session, by `turn.sessionKey`. Default: the items are kept with the tasks of the conversation. */
  readonly session?: (turn: Turn) => unknown
  /** Whether the next task of a conversation gets the items of this one, with its tool calls. Default true. */
  readonly memory?: boolean
}

/**
 * Makes an agent of the OpenAI Agents SDK an A2A agent.
 *
 * A tool approval becomes INPUT_REQUIRED with a form, and survives a restart. A turn that a restart interrupts continues after the
 * last tools that had all run. A guardrail that trips ends the task as REJECTED.
 *
 * @example
 * ```ts
 * import { Agent, Runner, RunState } from '@openai/agents'
 * import { fromOpenAIAgents } from '@parley/a2a/adapters/openai-agents'
 * import { serve } from '@parley/a2a/node'
 *
 * const agent = new Agent({ name: 'Researcher', instructions: 'Answer briefly.', tools: [search] })
 * await serve({ name: 'Researcher', agent: fromOpenAIAgents(agent, { Runner, RunState }) })
 * ```
 */
export function fromOpenAIAgents(agent: OpenAIAgent, options: FromOpenAIAgentsOptions): Agent {
  const { Runner, RunState, runConfig = {} } = options
  if (typeof Runner !== 'function' || typeof RunState?.fromString !== 'function')
    throw new TypeError('fromOpenAIAgents needs Runner and RunState of @openai/agents')
  const runner = new Runner({ tracingDisabled: true, ...runConfig } as never)
  return frameworkAgent<RunEvent>(
    { name: 'openai-agents', start: (start, out) => startRun({ agent, runner, options }, start, out) },
    options,
  )
}

interface Setup {
  readonly agent: OpenAIAgent
  readonly runner: OpenAIRunner
  readonly options: FromOpenAIAgentsOptions
}

/** In checkpoints. `before`: how many items of the conversation are older than the turn. */
interface SavedRun {
  readonly run: string
  readonly before: number
}

async function startRun(setup: Setup, start: RunStart, out: RunRecorder): Promise<FrameworkRun<RunEvent>> {
  const { options, runner, agent } = setup
  const { turn } = start
  const { input, before } = await inputOf(setup, start)
  /** Each resolves when everything that its model call reported is written. */
  const written: PromiseWithResolvers<void>[] = []
  const writtenCall = (index: number): PromiseWithResolvers<void> => (written[index] ??= Promise.withResolvers())
  let modelCalls = 0
  let state = isRunState(input) ? input : undefined

  const givenFilter = (options.runConfig as { callModelInputFilter?: ModelInputFilter })?.callModelInputFilter
  // The SDK waits for this before it calls the model: what the tools did is durable by then.
  const callModelInputFilter: ModelInputFilter = async (call) => {
    const isFirst = modelCalls === 0
    if (!isFirst) await abortable(turn.signal, writtenCall(modelCalls - 1).promise)
    modelCalls += 1
    // Before the first call of a new run nothing has happened; a resumed step would only be saved again.
    if (state !== undefined && !(isFirst && start.paused === undefined))
      await out.saveStep({ run: state.toString(), before } satisfies SavedRun)
    out.modelStarted()
    return givenFilter === undefined ? call.modelData : givenFilter(call)
  }
  const context = options.context?.(turn)
  const session = options.session?.(turn)
  const runOptions: RunOptions = {
    stream: true,
    signal: turn.signal,
    callModelInputFilter,
    ...(context !== undefined ? { context } : {}),
    ...(session !== undefined ? { session } : {}),
    ...(options.maxTurns !== undefined ? { maxTurns: options.maxTurns } : {}),
  }
  const run = (await runner.run(agent as never, input as never, runOptions as never)) as StreamedRun
  state = run.state
  // Rejects after an error or an abort, which the events report as well.
  run.completed.catch(() => {})
  const onEvent = eventReporter(agent, out, (index) => writtenCall(index).resolve())
  return { events: withGuardrails(run, out), onEvent, onEnd }

  async function onEnd(): Promise<void> {
    if (out.ending !== undefined) return
    await run.completed
    for (const { id, item } of identified(run.interruptions)) {
      const { name, rawItem, arguments: given } = item
      const input = parseArguments(given)
      const about = input === undefined ? {} : { arguments: input }
      const toolCallId = callIdOf(item)
      out.ask({ kind: 'approval', id, toolCallId, tool: name ?? rawItem.name ?? 'tool', ...about })
    }
    if (out.questions.length > 0) {
      out.pause({ run: run.state.toString(), before } satisfies SavedRun)
      return
    }
    if (run.finalOutput !== undefined && typeof run.finalOutput !== 'string') out.data(run.finalOutput)
    if (options.memory !== false && session === undefined) await rememberItems(turn, run.history, before)
  }
}

/** A guardrail that trips is an answer, and not a failure: the task is REJECTED. */
async function* withGuardrails(run: StreamedRun, out: RunRecorder): AsyncGenerator<RunEvent, void, void> {
  try {
    yield* run
  } catch (error) {
    if (!isGuardrailError(error)) throw error
    out.endWith(reject('A guardrail of the agent stopped this request'))
  }
}

async function inputOf(
  { agent, options }: Setup,
  { turn, step, paused }: RunStart,
): Promise<{ readonly input: unknown; readonly before: number }> {
  const saved = savedRun(step ?? paused?.state)
  if (saved !== undefined) {
    const state = await options.RunState.fromString(agent as never, saved.run)
    if (step === undefined) answerInterruptions(state, paused?.answers ?? [])
    return { input: state, before: saved.before }
  }
  const message = await messageItem(turn, options)
  const before = options.session !== undefined ? [] : await earlierItems(turn, options)
  return { input: [...before, message], before: before.length }
}

function answerInterruptions(state: OpenAIRunState, answers: readonly RunAnswer[]): void {
  const asked = identified(state.getInterruptions() as readonly Interruption[])
  for (const { item } of asked) {
    // The SDK keeps one decision for calls that it cannot tell apart: they run only if all of them are approved.
    const ids = asked.filter((other) => isSameCall(other.item, item)).map(({ id }) => id)
    const given = answers.filter((answer) => ids.includes(answer.id)).filter((answer) => 'approved' in answer)
    if (given.length < ids.length) continue
    const rejection = given.find(({ approved }) => !approved)
    if (rejection === undefined) state.approve(item as never)
    else state.reject(item as never, (rejection.reason === undefined ? {} : { message: rejection.reason }) as never)
  }
}

/** Each call with an id of its own: models repeat ids, and so do agents that are tools. */
function identified(items: readonly Interruption[]): readonly { readonly id: string; readonly item: Interruption }[] {
  const used = new Set<string>()
  return items.map((item) => {
    const callId = callIdOf(item)
    let id = callId
    for (let count = 2; used.has(id); count += 1) id = `${callId}/${count}`
    used.add(id)
    return { id, item }
  })
}

function isSameCall(one: Interruption, other: Interruption): boolean {
  return callIdOf(one) === callIdOf(other) && one.agent?.name === other.agent?.name && one.name === other.name
}

function callIdOf({ rawItem }: Interruption): string {
  return rawItem.callId ?? rawItem.id ?? ''
}

function savedRun(state: Json | undefined): SavedRun | undefined {
  return isStruct(state) && typeof state['run'] === 'string' ? (state as unknown as SavedRun) : undefined
}

function isRunState(input: unknown): input is OpenAIRunState {
  return typeof (input as Partial<OpenAIRunState>).getInterruptions === 'function'
}
