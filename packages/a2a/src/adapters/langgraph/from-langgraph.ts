/**
 * Graphs of LangGraph, and agents of LangChain's `createAgent`. The state of a run is a LangGraph thread: by default in the store of
 * the turn, or in the durable checkpointer that the graph was compiled with. A turn that a restart interrupts continues at the node
 * that was running.
 */
import type { Agent, Turn } from '../../agents/agent.ts'
import { reject } from '../../agents/reports.ts'
import type { Part } from '../../model/task.ts'
import type { AdapterOptions } from '../adapter-options.ts'
import { incomingParts, partText } from '../conversation-messages.ts'
import { type FrameworkRun, type RunStart, frameworkAgent } from '../framework-agent.ts'
import type { RunRecorder } from '../run-recorder.ts'
import { messageType, reportGraphEvent, reportMessage } from './graph-events.ts'
import type {
  GraphEvent,
  GraphInterrupt,
  GraphMessage,
  GraphState,
  IsAnswer,
  LangGraphAgent,
  LangGraphGraph,
} from './graph-events.ts'
import { breakpointId, pausedInterrupt, questionsOf, resumeValues, type PausedInterrupt } from './interrupts.ts'
import { langGraphSerializer } from './load-serializer.ts'
import { createTurnCheckpointer } from './turn-checkpointer.ts'
import type { GraphConfig, GraphSerializer, TurnCheckpointer } from './turn-checkpointer.ts'

/** Options of `fromLangGraph`. */
export interface FromLangGraphOptions extends AdapterOptions {
  /** The input of the graph. Default: `{ messages: [the message] }`. */
  readonly input?: (turn: Turn) => unknown
  /** The structured output of the final state, reported as data. Default: `structuredResponse`, if the state has it. */
  readonly output?: (state: Readonly<Record<string, unknown>>) => unknown
  /** Which messages of the model are the answer, by node and tags. Default: all. */
  readonly isAnswer?: IsAnswer
  /** Merged into `configurable` of every run. */
  readonly configurable?: (turn: Turn) => Readonly<Record<string, unknown>>
  /** The recursion limit of LangGraph. Default: its own. */
  readonly recursionLimit?: number
  /**
   * Revives messages from a checkpoint. Default: that of the graph's checkpointer, or of the LangGraph that is installed for the
   * program.
   */
  readonly serializer?: GraphSerializer
}

/**
 * Makes a graph of LangGraph, or an agent of LangChain's `createAgent`, an A2A agent.
 *
 * An `interrupt()` becomes INPUT_REQUIRED with a form from its `responseSchema`, and survives a restart. The thread is kept with the
 * task unless the graph was compiled with a durable checkpointer, and the next task of the conversation continues it.
 *
 * @example
 * ```ts
 * import { fromLangGraph } from '@parley/a2a/adapters/langgraph'
 * import { serve } from '@parley/a2a/node'
 * import { createAgent } from 'langchain'
 *
 * const agent = createAgent({ model: 'openai:gpt-5', tools: [search] })
 * await serve({ name: 'Researcher', agent: fromLangGraph(agent) })
 * ```
 */
export function fromLangGraph(agent: LangGraphAgent, options: FromLangGraphOptions = {}): Agent {
  const graph = 'graph' in agent ? agent.graph : agent
  return frameworkAgent<GraphEvent>(
    { name: 'langgraph', start: (start, out) => startRun(graph, options, start, out) },
    options,
  )
}

interface PausedGraph {
  readonly interrupts: readonly PausedInterrupt[]
  /** How many messages the thread had, and how many answers its nodes had taken. */
  readonly messages: number
  readonly resumes: number
}

async function startRun(
  graph: LangGraphGraph,
  options: FromLangGraphOptions,
  { turn, paused }: RunStart,
  out: RunRecorder,
): Promise<FrameworkRun<GraphEvent>> {
  const saver = isDurable(graph.checkpointer)
    ? (graph.checkpointer as TurnCheckpointer)
    : createTurnCheckpointer(turn.store, await serializerFor(graph, options))
  const thread = { thread_id: turn.sessionKey, __pregel_checkpointer: saver }
  const config = { configurable: { ...options.configurable?.(turn), ...thread } }
  const getState = async (): Promise<GraphState> => (await graph.getState(config as never)) as GraphState
  const isAnswer = options.isAnswer ?? (() => true)
  const interrupts = new Map<string, GraphInterrupt>()
  const state = paused?.state as PausedGraph | undefined
  let hasText = false

  const input = await inputOf()
  const events = input === undefined ? noEvents() : await streamOf(input.value)
  return { events, onEvent, onEnd }

  /** What to start with; `undefined` if the run had already ended or waits. */
  async function inputOf(): Promise<{ readonly value: unknown } | undefined> {
    if (turn.resumed !== undefined) {
      const known = await interruptedRun()
      if (known !== 'unstarted') return known
    }
    if (state === undefined || paused === undefined) return { value: await firstInput() }
    if (paused.answers.some((answer) => answer.id === breakpointId && 'approved' in answer && !answer.approved)) {
      out.endWith(reject('The run was not continued'))
      return undefined
    }
    return { value: resumeInput() }
  }

  function resumeInput(): unknown {
    if (state === undefined || paused === undefined || state.interrupts.length === 0) return null
    return { lg_name: 'Command', resume: resumeValues(state.interrupts, paused.answers) }
  }

  /** Input is never sent twice: LangGraph would append its messages again. */
  async function interruptedRun(): Promise<{ readonly value: unknown } | undefined | 'unstarted'> {
    const snapshot = await getState()
    const isUnstarted =
      state === undefined
        ? [undefined, checkpointIdOf(snapshot)].includes(await startedAfter())
        : isWaitingFor(state, snapshot) && (await resumeCount(saver, config)) === state.resumes
    if (isUnstarted) return 'unstarted'
    const messages = messagesIn(snapshot)
    for (const message of messages.slice(state?.messages ?? lastInput(messages) + 1)) {
      if (messageType(message) !== 'ai') continue
      reportMessage(textOnly(message), out, true)
      hasText = true
    }
    return isOver(snapshot) ? undefined : { value: null }
  }

  /** The checkpoint of the thread before the first input of this task. */
  async function startedAfter(): Promise<string | undefined> {
    return (await turn.store.get(startedKey)) as string | undefined
  }

  async function firstInput(): Promise<unknown> {
    const value = options.input?.(turn) ?? {
      messages: [{ role: 'user', content: (await incomingParts(turn, options)).map(contentBlock) }],
    }
    // After a crash, tells whether the thread has this input.
    await turn.store.set(startedKey, checkpointIdOf(await getState()))
    return value
  }

  function streamOf(value: unknown): Promise<AsyncIterable<GraphEvent>> {
    const { recursionLimit } = options
    const streamOptions = {
      ...config,
      signal: turn.signal,
      streamMode: ['messages', 'updates', 'tools', 'custom'],
      subgraphs: true,
      // Each step is durable before the next one starts.
      durability: 'sync',
      ...(recursionLimit !== undefined ? { recursionLimit } : {}),
    }
    out.modelStarted()
    return graph.stream(value as never, streamOptions as never) as Promise<AsyncIterable<GraphEvent>>
  }

  function takeInterrupt(found: GraphInterrupt): void {
    interrupts.set(found.id ?? '', found)
  }

  function onEvent(event: GraphEvent): void {
    if (event[1] === 'messages') hasText = true
    for (const found of reportGraphEvent(event, out, isAnswer)) takeInterrupt(found)
  }

  async function onEnd(): Promise<void> {
    if (out.ending !== undefined) return
    const snapshot = await getState()
    const { values = {}, next = [] } = snapshot
    const messages = messagesIn(snapshot)
    const found = [...interrupts.values()]
    for (const one of found) for (const question of questionsOf(one)) out.ask(question)
    if (found.length === 0 && next.length > 0) {
      const reason = 'The graph stops here until it is continued'
      out.ask({ kind: 'approval', id: breakpointId, tool: next.join(', '), reason })
    }
    if (out.questions.length > 0) {
      const resumes = await resumeCount(saver, config)
      const pausedGraph: PausedGraph = { interrupts: found.map(pausedInterrupt), messages: messages.length, resumes }
      out.pause(pausedGraph)
      return
    }
    reportResult(values, messages)
  }

  function reportResult(values: Readonly<Record<string, unknown>>, messages: readonly GraphMessage[]): void {
    const structured = options.output === undefined ? values['structuredResponse'] : options.output(values)
    if (structured !== undefined) out.data(structured)
    else if (!Array.isArray(values['messages'])) out.data(values)
    else if (!hasText) {
      const last = messages.at(-1)
      if (last !== undefined && messageType(last) === 'ai') reportMessage(last, out, true)
    }
  }
}

const startedKey = 'langgraph/started'

function checkpointIdOf({ config }: GraphState): string {
  return config?.configurable?.checkpoint_id ?? ''
}

function isWaitingFor({ interrupts }: PausedGraph, { tasks = [] }: GraphState): boolean {
  const open = tasks.flatMap((task) => task.interrupts ?? [])
  return interrupts.length === 0 || interrupts.some(({ id }) => open.some((one) => one.id === id))
}

/** A node that waits for its second answer is a task, and not among the next ones. */
function isOver({ next = [], tasks = [] }: GraphState): boolean {
  return next.length === 0 && tasks.length === 0
}

/** How many answers the nodes of the thread have taken. A node takes an answer once: then its task, not the interrupt, has it. */
async function resumeCount(saver: TurnCheckpointer, config: GraphConfig): Promise<number> {
  const { pendingWrites = [] } = (await saver.getTuple(config)) ?? {}
  return pendingWrites
    .filter(([taskId, channel]) => channel === '__resume__' && taskId.includes('-'))
    .flatMap(([, , value]) => value).length
}

let loaded: Promise<GraphSerializer> | undefined

async function serializerFor(graph: LangGraphGraph, { serializer }: FromLangGraphOptions): Promise<GraphSerializer> {
  return serializer ?? serializerOf(graph.checkpointer) ?? (await (loaded ??= langGraphSerializer()))
}

/** LangGraph's `MemorySaver` keeps threads in two plain objects, and loses them with the process. */
function isDurable(checkpointer: unknown): boolean {
  if (typeof checkpointer !== 'object' || checkpointer === null) return false
  return !('storage' in checkpointer && 'writes' in checkpointer)
}

function serializerOf(checkpointer: unknown): GraphSerializer | undefined {
  const found = typeof checkpointer === 'object' && checkpointer !== null && 'serde' in checkpointer
  return found ? (checkpointer.serde as GraphSerializer) : undefined
}

async function* noEvents(): AsyncGenerator<GraphEvent, void, void> {
  yield* []
}

function messagesIn({ values = {} }: GraphState): readonly GraphMessage[] {
  const { messages } = values
  return Array.isArray(messages) ? (messages as readonly GraphMessage[]) : []
}

function lastInput(messages: readonly GraphMessage[]): number {
  return messages.findLastIndex((message) => messageType(message) === 'human')
}

/** Its tokens were counted when it was made. */
function textOnly({ id, content }: GraphMessage): GraphMessage {
  return { ...(id !== undefined ? { id } : {}), content }
}

/** Standard content blocks of LangChain. */
function contentBlock(part: Part): unknown {
  if (!('raw' in part)) return { type: 'text', text: partText(part) }
  const { raw, mediaType = 'application/octet-stream', filename } = part
  const kind = /^(image|audio|video)\//.exec(mediaType)?.[1] ?? 'file'
  return { type: kind, data: raw, mimeType: mediaType, ...(filename !== undefined ? { metadata: { filename } } : {}) }
}
