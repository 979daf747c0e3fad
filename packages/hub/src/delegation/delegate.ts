/**
 * Delegation for agents written as programs: `const answer = yield* delegate({ agent, message })`. The other agent's reports pass
 * through, its question becomes the task's own, and the answer is sent to it. The program runs again for each turn and after a
 * restart; its earlier delegations are found again by their order.
 */
import {
  A2AError,
  isInterrupted,
  type AgentMessage,
  type Artifact,
  type Json,
  type Part,
  type Report,
  type TaskState,
  type Turn,
  isRedacted,
} from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import type { InProcessClient, CallableAgent } from '../agents/kind.ts'
import { createCheckpointWriter } from '../agents/checkpoint-writer.ts'
import { childCause } from './child-failure.ts'
import { runHop, createHopState, type HopResult, type HopState } from './hop.ts'
import { createChildProgress, childStateReport } from './child-progress.ts'
import { textOfParts } from '../agents/part-reader.ts'
import { initialDelegationCheckpoint, withOwnCheckpoints } from './delegation-checkpoint.ts'

/** The agent and the message of a delegation. */
export interface DelegateOptions {
  /** The name of another agent of this hub. */
  readonly agent: string
  /** A text, or a message with parts and metadata. */
  readonly message: string | AgentMessage
  /** Timeout in milliseconds, including answers to its questions. Default: the deadline of the task. */
  readonly timeoutMs?: number
  /** Whether its artifacts become artifacts of this task, as `agent.artifactId`. Default true. */
  readonly artifacts?: boolean
}

/** The result of a delegation whose task completed. */
export interface DelegateResult {
  /** The id of the child task. */
  readonly taskId: string
  /** The artifacts of the child task. */
  readonly artifacts: readonly Artifact[]
  /** The parts of its last message, if there is one. */
  readonly message: readonly Part[]
  /** The text of all artifacts, or of the message if there are none. */
  readonly text: string
}

/**
 * Sends a message to another agent of this hub as a child task, and returns its result: `const draft = yield*
 * delegate({ agent, message })`. Its reports become reports of your task, and its question becomes the question of your
 * task. Throws an A2AError with the code TASK_FAILED if the agent fails or refuses, AGENT_UNAVAILABLE if it is not
 * available, and UNSUPPORTED_OPERATION if the delegation is not permitted: `details.reason` has the cause.
 */
export type Delegate = (options: DelegateOptions) => AsyncGenerator<Report, DelegateResult, undefined>

/** What an agent of the kind `module` receives beside its turn. */
export interface AgentTools {
  /** Sends a message to another agent of this hub and returns its result. */
  readonly delegate: Delegate
  /** The agents that this turn may delegate to. */
  agents(): Promise<readonly CallableAgent[]>
}

export interface DelegatingTurn {
  /** The turn as the agent sees it: with its own checkpoints only. */
  readonly turn: Turn
  readonly tools: AgentTools
}

export function createDelegatingTurn(turn: Turn, inProcessClient: InProcessClient, now: () => number): DelegatingTurn {
  // Now, before the agent can change it.
  const kept = initialDelegationCheckpoint(turn)
  const save = createCheckpointWriter((state) => turn.checkpoint(state), kept)
  const isUnanswered = turn.message.metadata?.['reason'] === 'INPUT_TIMEOUT'
  let calls = 0
  let isAnswered = false

  return {
    turn: withOwnCheckpoints(turn, {
      async checkpoint(data) {
        kept.own = data as Json
        // Without delegations, the agent's checkpoint is stored unchanged.
        return kept.steps.length === 0 ? turn.checkpoint(data) : save()
      },
    }),
    tools: {
      delegate(options) {
        calls += 1
        return run(options, calls)
      },
      agents: () => inProcessClient.agents(turn),
    },
  }

  async function* run(options: DelegateOptions, nth: number): AsyncGenerator<Report, DelegateResult, undefined> {
    const { agent, timeoutMs, artifacts = true } = options
    const state = stepOf(agent, nth)
    const answer = answerFor(state)
    if (state.asked === true && isUnanswered) await cancelUnanswered(state)
    const progress = createChildProgress({
      turn,
      agent,
      artifactName: artifactNamer(agent, kept.steps.slice(0, nth - 1)),
      mayBeRecorded: state.taskId !== undefined,
    })
    const deadlineAt = timeoutMs === undefined ? undefined : now() + timeoutMs
    const events = runHop({
      inProcessClient,
      turn,
      state,
      save,
      message: toAgentMessage(options.message),
      answer,
      deadlineAt,
    })
    for (;;) {
      const step = await events.next()
      if (step.done === true) return yield* settle(step.value, state)
      for (const report of await progress.reports(step.value)) {
        if (artifacts || !(typeof report === 'object' && 'artifact' in report)) yield report
      }
    }
  }

  async function* settle(end: HopResult, state: HopState): AsyncGenerator<Report, DelegateResult, undefined> {
    const { status, taskId } = end
    const { agent } = state
    if (isInterrupted(status.state)) {
      await save()
      yield childStateReport(status.state, agent, end)
      throw new Error('the turn has ended with a question')
    }
    if (status.state !== 'TASK_STATE_COMPLETED') throw childFailedError(agent, end)
    const { artifacts = [] } = await inProcessClient.task(agent, taskId, turn)
    const message = status.message?.parts ?? []
    const parts = artifacts.length > 0 ? artifacts.flatMap((one) => one.parts) : message
    return { taskId, artifacts, message, text: textOfParts(parts) }
  }

  /** The earlier delegation, if the program repeats the same call; from the first difference on, delegations are new. */
  function stepOf(agent: string, nth: number): HopState {
    const { steps } = kept
    const known = steps[nth - 1]
    if (known?.agent === agent) return known
    const state = createHopState(turn, agent, String(nth))
    steps.splice(nth - 1, Infinity, state)
    return state
  }

  /** The turn's message answers the first delegation that asked. A secret that a restart has lost is asked for again. */
  function answerFor({ asked }: HopState): AgentMessage | undefined {
    if (asked !== true || isAnswered || isUnanswered || isRedacted(turn.message)) return undefined
    isAnswered = true
    const { parts, metadata, extensions } = turn.message
    return {
      parts,
      ...omitUndefined({ metadata, extensions }),
    }
  }

  async function cancelUnanswered({ agent, taskId }: HopState): Promise<never> {
    if (taskId !== undefined) await inProcessClient.cancel(agent, taskId, turn).catch(() => {})
    throw new A2AError('TASK_FAILED', `The question of ${agent} was not answered in time`)
  }
}

/** With several children of one agent, the later ones are numbered. */
function artifactNamer(agent: string, before: readonly HopState[]): (artifactId: string) => string {
  const count = 1 + before.filter((step) => step.agent === agent).length
  const prefix = count === 1 ? agent : `${agent}-${count}`
  return (artifactId) => `${prefix}.${artifactId}`
}

const stateVerbs: Partial<Record<TaskState, string>> = {
  TASK_STATE_REJECTED: 'refused',
  TASK_STATE_CANCELED: 'was canceled',
}

function childFailedError(agent: string, { status, taskId, metadata }: HopResult): A2AError {
  const why = textOfParts(status.message?.parts ?? [])
  const text = `The agent ${agent} ${stateVerbs[status.state] ?? 'failed'}${why === '' ? '' : `: ${why}`}`
  const reason = metadata?.['reason']
  return new A2AError(
    'TASK_FAILED',
    text,
    { taskId, state: status.state, ...(typeof reason === 'string' ? { reason } : {}) },
    { cause: childCause(agent, taskId) },
  )
}

function toAgentMessage(message: string | AgentMessage): AgentMessage {
  return typeof message === 'string' ? { parts: [{ text: message }] } : message
}
