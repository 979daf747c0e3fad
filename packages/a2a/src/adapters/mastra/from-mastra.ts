/**
 * Agents of Mastra. A run that waits for an approval or that a tool suspended is a snapshot in the storage of Mastra; a checkpoint
 * holds its id. Nothing is stored while a run works, so an interrupted turn runs again from its start, or from the answer.
 */
import type { Agent, Turn } from '../../agents/agent.ts'
import { fail, reject } from '../../agents/reports.ts'
import { isStruct } from '../../model/struct.ts'
import type { Json, Struct } from '../../model/task.ts'
import type { AdapterOptions } from '../adapter-options.ts'
import { toJson } from '../bounded-json.ts'
import { type FrameworkRun, type RunStart, frameworkAgent } from '../framework-agent.ts'
import type { RunAnswer } from '../questions.ts'
import type { RunRecorder } from '../run-recorder.ts'
import { reportChunk } from './report-chunk.ts'
import type { MastraAgent, MastraStorage, MastraStream, MastraThread, StreamChunk } from './stream-chunks.ts'
import { inputMessages, threadOf } from './thread.ts'

/** Options of `fromMastra`. */
export interface FromMastraOptions extends AdapterOptions {
  /** Passed to `agent.stream()`: `{ schema }`. The value is reported as data, and not its JSON as text. */
  readonly structuredOutput?: object
  /** Other options of `agent.stream()`, such as `maxSteps`, `requestContext` and `requireToolApproval`. */
  readonly streamOptions?: (turn: Turn) => object
  /**
   * The thread of a conversation, if the agent has a `Memory`. Default: a thread per conversation (`turn.sessionKey`), and a resource
   * per caller; for anonymous callers a resource per conversation.
   */
  readonly thread?: (turn: Turn) => MastraThread | Promise<MastraThread>
}

/**
 * Makes an agent of Mastra an A2A agent.
 *
 * A tool approval and a tool that calls `suspend()` become INPUT_REQUIRED with a form, and survive a restart. Throws a TypeError if
 * the agent is not registered with a `Mastra` that has durable storage.
 *
 * @example
 * ```ts
 * import { Mastra } from '@mastra/core'
 * import { LibSQLStore } from '@mastra/libsql'
 * import { fromMastra } from '@parley/a2a/adapters/mastra'
 * import { serve } from '@parley/a2a/node'
 *
 * const storage = new LibSQLStore({ id: 'mastra', url: 'file:./mastra.db' })
 * const mastra = new Mastra({ agents: { researcher }, storage })
 * await serve({ name: 'Researcher', agent: fromMastra(mastra.getAgent('researcher')) })
 * ```
 */
export function fromMastra(agent: MastraAgent, options: FromMastraOptions = {}): Agent {
  const storage = durableStorage(agent)
  return frameworkAgent<StreamChunk>(
    {
      name: 'mastra',
      start: (start, out) => startRun(agent, options, start, out),
      release: (state) => deleteSnapshot(storage, state),
    },
    options,
  )
}

/** In checkpoints. */
interface SuspendedRun {
  readonly runId: string
  readonly toolCallId: string
}

async function startRun(
  agent: MastraAgent,
  options: FromMastraOptions,
  start: RunStart,
  out: RunRecorder,
): Promise<FrameworkRun<StreamChunk>> {
  const { turn, paused } = start
  const { runId, toolCallId } = suspendedRun(paused?.state) ?? { runId: crypto.randomUUID(), toolCallId: undefined }
  const hasMemory = agent.hasOwnMemory()
  const { structuredOutput } = options
  const runOptions: RunOptions = {
    ...options.streamOptions?.(turn),
    ...(structuredOutput !== undefined ? { structuredOutput } : {}),
    ...(hasMemory ? { memory: await (options.thread ?? threadOf)(turn) } : {}),
    ...(toolCallId !== undefined ? { toolCallId } : {}),
    runId,
    abortSignal: turn.signal,
  }
  const answer = paused?.answers.find(({ id }) => id === toolCallId)
  const stream =
    answer === undefined
      ? await agent.stream((await inputMessages(turn, options, hasMemory)) as never, runOptions as never)
      : await resumeRun(agent, answer, runOptions, turn)
  if (stream === undefined) {
    out.endWith(fail('The run had ended before its answer was recorded'))
    return { events: noChunks(), onEvent: () => {} }
  }
  // With a model of its own, structured output is made from the text; otherwise the text is its JSON.
  const isJsonText = structuredOutput !== undefined && !('model' in structuredOutput)
  let steps = 0
  return { events: (stream as MastraStream).fullStream, onEvent }

  function onEvent(chunk: StreamChunk): void {
    switch (chunk.type) {
      case 'text-delta':
        // Ids are the model's own, and may repeat in later steps.
        if (!isJsonText) out.text(chunk.payload.text, `${steps}:${chunk.payload.id}`)
        return
      case 'step-start':
        steps += 1
        out.modelStarted()
        return
      case 'tool-call-approval': {
        const { toolCallId: id, toolName: tool, args } = chunk.payload
        out.ask({ kind: 'approval', id, tool, arguments: toJson(args) })
        out.pause({ runId, toolCallId: id } satisfies SuspendedRun)
        return
      }
      case 'tool-call-suspended': {
        const { toolCallId: id, toolName, suspendPayload, resumeSchema } = chunk.payload
        const schema = formOf(suspendPayload) ?? parseSchema(resumeSchema)
        const text = questionText(suspendPayload, toolName)
        out.ask({ kind: 'value', id, text, ...(schema !== undefined ? { schema } : {}) })
        out.pause({ runId, toolCallId: id } satisfies SuspendedRun)
        return
      }
      case 'tripwire':
        out.endWith(reject('A guardrail of the agent stopped this request'))
        return
      case 'abort':
        turn.signal.throwIfAborted()
        throw new Error('the run of Mastra was aborted')
      case 'error':
        throw new Error('the run of Mastra failed', { cause: chunk.payload.error })
      default:
        reportChunk(chunk, out)
    }
  }
}

interface RunOptions {
  readonly runId: string
  readonly abortSignal: AbortSignal
  readonly [name: string]: unknown
}

/** Resolves to `undefined` if an interrupted run of this turn resumed the run and it ended: Mastra deletes its snapshot then. */
async function resumeRun(agent: MastraAgent, answer: RunAnswer, options: RunOptions, turn: Turn): Promise<unknown> {
  try {
    if (!('approved' in answer)) {
      const value = 'value' in answer ? answer.value : answer.result
      return await agent.resumeStream(value as never, options as never)
    }
    const { approved, reason } = answer
    if (approved) return await agent.approveToolCall(options as never)
    return await agent.declineToolCall({ ...options, ...(reason !== undefined ? { reason } : {}) } as never)
  } catch (error) {
    const isGone = (error as { readonly id?: unknown }).id === 'AGENT_RESUME_NO_SNAPSHOT_FOUND'
    if (isGone && turn.resumed !== undefined) return undefined
    throw error
  }
}

async function* noChunks(): AsyncGenerator<StreamChunk, void, void> {}

/** What a suspended tool asks for: its payload, or the text in it. */
function questionText(payload: unknown, toolName: string): string {
  if (typeof payload === 'string' && payload !== '') return payload
  if (isStruct(payload)) {
    for (const name of ['question', 'message', 'reason', 'prompt', 'text']) {
      const text = payload[name]
      if (typeof text === 'string' && text !== '') return text
    }
    if (Object.keys(payload).length > 0) return `${toolName}: ${JSON.stringify(payload)}`
  }
  return `${toolName} needs input`
}

/** A tool may ask for what its schema does not know: `a2aTool` passes the form of a remote agent on. */
function formOf(payload: unknown): Struct | undefined {
  const form = isStruct(payload) ? payload['requestedSchema'] : undefined
  return isStruct(form) ? form : undefined
}

function parseSchema(text: string | undefined): Struct | undefined {
  try {
    const { $schema: _, ...schema } = JSON.parse(text ?? '{}') as Struct
    return Object.keys(schema).length === 0 ? undefined : schema
  } catch {
    return undefined
  }
}

function suspendedRun(state: Json | undefined): SuspendedRun | undefined {
  return isStruct(state) && typeof state['runId'] === 'string' ? (state as unknown as SuspendedRun) : undefined
}

/** A run that waits is stored by Mastra, so without durable storage it would be lost with the process. */
function durableStorage(agent: MastraAgent): MastraStorage {
  const mastra = agent.getMastraInstance() as { getStorage?(): MastraStorage | undefined } | undefined
  const storage = mastra?.getStorage?.()
  if (storage === undefined)
    throw new TypeError(
      'fromMastra: the agent has no storage, so a run that waits for an answer cannot be resumed. Register the agent: ' +
        'new Mastra({ agents: { agent }, storage }), with a durable storage such as LibSQLStore or PostgresStore',
    )
  const workflows = storage.stores?.workflows?.db?.workflows
  if (storage.name === 'InMemoryStorage' || workflows instanceof Map)
    throw new TypeError(
      'fromMastra: the storage of Mastra is in memory, so a run that waits for an answer is lost with the process. ' +
        'Pass a durable one, such as LibSQLStore or PostgresStore, to new Mastra({ agents, storage })',
    )
  return storage
}

/** The names under which Mastra stores the run of an agent. */
const workflowNames = ['agentic-loop', 'executionWorkflow']

async function deleteSnapshot(storage: MastraStorage, state: Json): Promise<void> {
  const run = suspendedRun(state)
  const workflows = await storage.getStore?.('workflows')
  if (run === undefined) return
  for (const workflowName of workflowNames) await workflows?.deleteWorkflowRunById?.({ runId: run.runId, workflowName })
}
