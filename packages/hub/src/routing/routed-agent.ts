/**
 * An agent that delegates some of its messages to others, as the routes define: its caller sees one task, with the messages,
 * artifacts and questions of the other agent. If a candidate fails before it has produced output, the next one is tried. Messages
 * without a matching route run on the agent as if there were no routes.
 */
import {
  A2AError,
  fail,
  isInterrupted,
  type AbandonedTask,
  type Agent,
  type AgentFunction,
  type AgentMessage,
  type AgentOutput,
  type Json,
  type Message,
  type Report,
  type Turn,
  isRedacted,
} from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import type { InProcessClient } from '../agents/kind.ts'
import { createCheckpointWriter } from '../agents/checkpoint-writer.ts'
import { runHop, createHopState, type HopState } from '../delegation/hop.ts'
import { createChildProgress, childStateReport } from '../delegation/child-progress.ts'
import { isAgentFailure } from '../health/health-monitor.ts'
import { reportIterator } from '../agents/wrap-agent.ts'
import type { RouteDecision } from './decide-route.ts'

export interface RoutedAgentDeps {
  readonly name: string
  readonly inProcessClient: InProcessClient
  decideRoute(turn: Turn): RouteDecision
  /** Whether work may be delegated to the agent now. */
  tryAcquire(agent: string): boolean
  /** Throws AGENT_UNAVAILABLE if the agent itself is not open. */
  requireOpen(): void
}

/** The checkpoint of a turn. */
interface RouteCheckpoint {
  readonly routed: 1
  /** The index of this delegated message in the task. */
  readonly round: number
  /** The candidates to try if this one fails. */
  left: readonly string[]
  child: HopState
}

const noAgentAvailable = (): A2AError =>
  new A2AError('AGENT_UNAVAILABLE', 'None of the agents that could do this is available at the moment')

export function createRoutedAgent(agent: Agent, parts: RoutedAgentDeps): Agent {
  const { name, inProcessClient } = parts
  const runOwn: AgentFunction = (turn) => {
    parts.requireOpen()
    return typeof agent === 'function' ? agent(turn) : agent.run(turn)
  }
  return { resume: 'reattach', run, reattach, onAbandoned: abandon }

  async function run(turn: Turn): Promise<AgentOutput> {
    const before = readRouteCheckpoint(turn.lastCheckpoint)
    if (before !== undefined) return continueRouted(turn, before)
    // A task continues with the agent that began it.
    if (await hasEarlierMessages(turn)) return runOwn(turn)
    const { route, to } = parts.decideRoute(turn)
    return route === undefined ? runOwn(turn) : startRoute(turn, to)
  }

  /** The next message of a delegated task: an answer goes to the agent that asked, anything else to the agent that did the work. */
  async function continueRouted(turn: Turn, { child, round }: RouteCheckpoint): Promise<AgentOutput> {
    if (child.asked !== true) {
      const next = round + 1
      return runCandidates(turn, {
        routed: 1,
        round: next,
        left: [],
        child: createHopState(turn, child.agent, `route:${next}`),
      })
    }
    if (turn.message.metadata?.['reason'] !== 'INPUT_TIMEOUT')
      return runCandidates(turn, { routed: 1, round, left: [], child: structuredClone(child) })
    if (child.taskId !== undefined) await inProcessClient.cancel(child.agent, child.taskId, turn).catch(() => {})
    return fail('The question was not answered in time')
  }

  async function reattach(turn: Turn): Promise<AgentOutput> {
    const interrupted = readRouteCheckpoint(turn.resumed?.checkpoint)
    if (interrupted !== undefined) return runCandidates(turn, structuredClone(interrupted))
    if (readRouteCheckpoint(turn.lastCheckpoint) !== undefined) return run(turn)
    // A delegation writes a checkpoint first, so there was none; the agent itself may have written one.
    if (turn.resumed?.checkpoint === undefined && !(await hasEarlierMessages(turn))) {
      const { route, to } = parts.decideRoute(turn)
      if (route !== undefined && to[0] !== name) return startRoute(turn, to)
    }
    return resumeSelf(turn)
  }

  /** Applies the agent's own resume semantics after a restart. */
  function resumeSelf(turn: Turn): ReturnType<AgentFunction> {
    if (typeof agent === 'function' || agent.resume === 'fail')
      return { state: 'TASK_STATE_FAILED', message: 'The task was interrupted by a restart' }
    return agent.resume === 'reattach' ? agent.reattach(turn) : agent.run(turn)
  }

  async function* startRoute(turn: Turn, to: readonly string[]): AsyncGenerator<Report, void, undefined> {
    const [first, left] = pick(to)
    if (first === undefined) throw noAgentAvailable()
    if (first === name) yield* runSelf(turn, left)
    else yield* runCandidates(turn, { routed: 1, round: 1, left, child: createHopState(turn, first, 'route:1') })
  }

  /** Returns the first candidate that accepts work now, and those after it. */
  function pick(candidates: readonly string[]): readonly [first: string | undefined, left: readonly string[]] {
    const index = candidates.findIndex(parts.tryAcquire)
    return index < 0 ? [undefined, []] : [candidates[index], candidates.slice(index + 1)]
  }

  /** Runs the agent itself; if it fails before its first output, the next candidate is tried. */
  async function* runSelf(turn: Turn, left: readonly string[]): AsyncGenerator<Report, void, undefined> {
    let failure: AgentFailure | undefined
    let hasSaid = false
    try {
      const iterator = reportIterator(await runOwn(turn))
      for (;;) {
        const { value, done } = await iterator.next()
        if (!hasSaid && value !== undefined && isFailureReport(value)) {
          failure = { report: value }
          break
        }
        if (value !== undefined) yield value
        hasSaid = true
        if (done === true) return
      }
      void iterator.return?.()
    } catch (reason) {
      if (hasSaid || !canTryAnother(reason, turn)) throw reason
      failure = { reason }
    }
    const [next, others] = pick(left)
    if (next === undefined) return yield* reportFailure(failure)
    turn.log.warn('an agent failed; calling another', { target: next, cause: failure?.reason })
    yield* runCandidates(turn, {
      routed: 1,
      round: 1,
      left: others,
      child: createHopState(turn, next, `route:1:${next}`),
    })
  }

  async function* runCandidates(turn: Turn, state: RouteCheckpoint): AsyncGenerator<Report, void, undefined> {
    const save = createCheckpointWriter((kept) => turn.checkpoint(kept), state)
    for (;;) {
      const failure = yield* runCandidate(turn, state, save)
      if (failure === undefined) return
      const [next, left] = pick(state.left)
      if (next === undefined) return yield* reportFailure(failure)
      turn.log.warn('an agent failed; calling another', {
        failed: state.child.agent,
        target: next,
        cause: failure.reason,
      })
      if (next === name) return yield* runSelf(turn, left)
      state.left = left
      state.child = createHopState(turn, next, `route:${state.round}:${next}`)
    }
  }

  /** Returns a failure if nothing was produced yet. The caller reports it only if no candidate is left. */
  async function* runCandidate(
    turn: Turn,
    { child, round }: RouteCheckpoint,
    save: () => Promise<void>,
  ): AsyncGenerator<Report, AgentFailure | undefined, undefined> {
    const answer = child.asked === true && !isRedacted(turn.message) ? toAgentMessage(turn.message) : undefined
    const progress = createChildProgress({
      turn,
      agent: child.agent,
      replacesTurn: true,
      artifactName: (artifactId) => (round === 1 ? artifactId : `${artifactId}~${round}`),
      mayBeRecorded: child.taskId !== undefined,
    })
    let hasGiven = child.taskId !== undefined && (await turn.artifacts()).length > 0
    const events = runHop({
      inProcessClient,
      turn,
      state: child,
      save,
      message: toAgentMessage(turn.message),
      answer,
      replacesTurn: true,
    })
    try {
      for (;;) {
        const step = await events.next()
        if (step.done === true) {
          const { status, metadata } = step.value
          const ending = childStateReport(status.state, child.agent, step.value, true)
          if (!hasGiven && status.state === 'TASK_STATE_FAILED' && isAgentFailure(metadata?.['reason']))
            return { report: ending }
          if (isInterrupted(status.state)) await save()
          yield ending
          return undefined
        }
        for (const report of await progress.reports(step.value)) {
          hasGiven ||= typeof report === 'object' && 'artifact' in report
          yield report
        }
      }
    } catch (reason) {
      if (hasGiven || !canTryAnother(reason, turn)) throw reason
      return { reason }
    }
  }

  async function abandon(about: AbandonedTask): Promise<unknown> {
    const { agent: target, taskId } = readRouteCheckpoint(about.lastCheckpoint)?.child ?? {}
    if (target === undefined) return typeof agent === 'function' ? undefined : agent.onAbandoned?.(about)
    if (taskId !== undefined) await inProcessClient.cancel(target, taskId, about)
    return undefined
  }
}

/** A failure after which another candidate may be tried. */
interface AgentFailure {
  readonly report?: Report
  readonly reason?: unknown
}

async function* reportFailure({ report, reason }: AgentFailure = {}): AsyncGenerator<Report, void, undefined> {
  if (report === undefined) throw reason
  yield report
}

function canTryAnother(reason: unknown, { signal }: Turn): boolean {
  return !signal.aborted && isAgentFailure(A2AError.from(reason).code)
}

async function hasEarlierMessages(turn: Turn): Promise<boolean> {
  return (await turn.history()).length > 1
}

function isFailureReport(report: Report): boolean {
  if (typeof report !== 'object' || !('state' in report) || report.state !== 'TASK_STATE_FAILED') return false
  return isAgentFailure(report.metadata?.['reason'])
}

function toAgentMessage({ parts, metadata, extensions }: Message): AgentMessage {
  return {
    parts,
    ...omitUndefined({ metadata, extensions }),
  }
}

function readRouteCheckpoint(checkpoint: Json | undefined): RouteCheckpoint | undefined {
  if (typeof checkpoint !== 'object' || checkpoint === null || !('routed' in checkpoint)) return undefined
  return checkpoint as unknown as RouteCheckpoint
}
