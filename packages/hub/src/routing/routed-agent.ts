/**
 * An agent some of whose messages are handed on to others, as the routes say: its caller sees one task, with the other's words,
 * artifacts and questions in it. Who fails before having given anything is not the last to be asked. What the routes leave to
 * the agent it does as if they were not there.
 */
import { A2AError, fail, isInterrupted, isRedacted } from '@parley/a2a'
import type {
  Abandoned,
  Agent,
  AgentFunction,
  AgentMessage,
  AgentOutput,
  Json,
  Message,
  Report,
  Turn,
} from '@parley/a2a'
import type { House } from '../agents/kind.ts'
import { createSaver } from '../agents/saver.ts'
import { hop, newHop } from '../delegation/hop.ts'
import type { HopState } from '../delegation/hop.ts'
import { createTelling, said } from '../delegation/telling.ts'
import { isTrouble } from '../health/outcome.ts'
import { reportIterator } from '../limits/report-iterator.ts'
import type { Decision } from './decide.ts'

export interface RoutedParts {
  readonly name: string
  readonly house: House
  decide(turn: Turn): Decision
  /** Whether work may be handed on to the agent now. */
  take(agent: string): boolean
  /** Throws AGENT_UNAVAILABLE if the agent itself is not there. */
  requireOpen(): void
}

/** What a turn keeps. */
interface Routed {
  readonly routed: 1
  /** Which of the task's messages that were handed on it is. */
  readonly round: number
  /** Who is asked if this one fails. */
  left: readonly string[]
  child: HopState
}

const unavailable = (): A2AError =>
  new A2AError('AGENT_UNAVAILABLE', 'None of the agents that could do this is available at the moment')

export function routedAgent(agent: Agent, parts: RoutedParts): Agent {
  const { name, house } = parts
  const own: AgentFunction = (turn) => {
    parts.requireOpen()
    return typeof agent === 'function' ? agent(turn) : agent.run(turn)
  }
  return { resume: 'reattach', run, reattach, abandon }

  async function run(turn: Turn): Promise<AgentOutput> {
    const before = routedIn(turn.remembered)
    if (before !== undefined) return goOn(turn, before)
    // A task goes on where it began.
    if (await isLater(turn)) return own(turn)
    const { route, to } = parts.decide(turn)
    return route === undefined ? own(turn) : begin(turn, to)
  }

  /** The next message of a task that was handed on: an answer goes to who asked, anything else to who did it. */
  async function goOn(turn: Turn, { child, round }: Routed): Promise<AgentOutput> {
    if (child.asked !== true) {
      const next = round + 1
      return handOn(turn, { routed: 1, round: next, left: [], child: newHop(turn, child.agent, `route:${next}`) })
    }
    if (turn.message.metadata?.['reason'] !== 'INPUT_TIMEOUT')
      return handOn(turn, { routed: 1, round, left: [], child: structuredClone(child) })
    if (child.taskId !== undefined) await house.cancel(child.agent, child.taskId, turn).catch(() => {})
    return fail('Nobody answered in time')
  }

  async function reattach(turn: Turn): Promise<AgentOutput> {
    const interrupted = routedIn(turn.resumed?.checkpoint)
    if (interrupted !== undefined) return handOn(turn, structuredClone(interrupted))
    if (routedIn(turn.remembered) !== undefined) return run(turn)
    // Whatever is handed on is kept first, so nothing was; and of what the agent itself began something may be kept.
    if (turn.resumed?.checkpoint === undefined && !(await isLater(turn))) {
      const { route, to } = parts.decide(turn)
      if (route !== undefined && to[0] !== name) return begin(turn, to)
    }
    return again(turn)
  }

  /** What a restart means for the agent itself. */
  function again(turn: Turn): ReturnType<AgentFunction> {
    if (typeof agent === 'function' || agent.resume === 'fail')
      return { state: 'TASK_STATE_FAILED', message: 'The task was interrupted by a restart' }
    return agent.resume === 'reattach' ? agent.reattach(turn) : agent.run(turn)
  }

  async function* begin(turn: Turn, to: readonly string[]): AsyncGenerator<Report, void, undefined> {
    const [first, left] = pick(to)
    if (first === undefined) throw unavailable()
    if (first === name) yield* myself(turn, left)
    else yield* handOn(turn, { routed: 1, round: 1, left, child: newHop(turn, first, 'route:1') })
  }

  /** The first that takes work now, and those after it. */
  function pick(candidates: readonly string[]): readonly [first: string | undefined, left: readonly string[]] {
    const index = candidates.findIndex(parts.take)
    return index < 0 ? [undefined, []] : [candidates[index], candidates.slice(index + 1)]
  }

  /** The agent does it, unless it cannot, has not said anything yet and somebody else can. */
  async function* myself(turn: Turn, left: readonly string[]): AsyncGenerator<Report, void, undefined> {
    let trouble: Trouble | undefined
    let hasSaid = false
    try {
      const iterator = reportIterator(await own(turn))
      for (;;) {
        const { value, done } = await iterator.next()
        if (!hasSaid && value !== undefined && isTroubled(value)) {
          trouble = { report: value }
          break
        }
        if (value !== undefined) yield value
        hasSaid = true
        if (done === true) return
      }
      void iterator.return?.()
    } catch (reason) {
      if (hasSaid || !isWorthAnother(reason, turn)) throw reason
      trouble = { reason }
    }
    const [next, others] = pick(left)
    if (next === undefined) return yield* tell(trouble)
    turn.log.warn('an agent failed; another is asked', { target: next, cause: trouble?.reason })
    yield* handOn(turn, { routed: 1, round: 1, left: others, child: newHop(turn, next, `route:1:${next}`) })
  }

  async function* handOn(turn: Turn, state: Routed): AsyncGenerator<Report, void, undefined> {
    const save = createSaver((kept) => turn.checkpoint(kept), state)
    for (;;) {
      const trouble = yield* tryOne(turn, state, save)
      if (trouble === undefined) return
      const [next, left] = pick(state.left)
      if (next === undefined) return yield* tell(trouble)
      turn.log.warn('an agent failed; another is asked', {
        failed: state.child.agent,
        target: next,
        cause: trouble.reason,
      })
      if (next === name) return yield* myself(turn, left)
      state.left = left
      state.child = newHop(turn, next, `route:${state.round}:${next}`)
    }
  }

  /** Trouble is told only if nobody else can be asked: as long as nothing was given it is answered. */
  async function* tryOne(
    turn: Turn,
    { child, round }: Routed,
    save: () => Promise<void>,
  ): AsyncGenerator<Report, Trouble | undefined, undefined> {
    const answer = child.asked === true && !isRedacted(turn.message) ? asAsked(turn.message) : undefined
    const telling = createTelling({
      turn,
      agent: child.agent,
      isInstead: true,
      named: (artifactId) => (round === 1 ? artifactId : `${artifactId}~${round}`),
      isKnown: child.taskId !== undefined,
    })
    let hasGiven = child.taskId !== undefined && (await turn.artifacts()).length > 0
    const events = hop({ house, turn, state: child, save, message: asAsked(turn.message), answer, isInstead: true })
    try {
      for (;;) {
        const step = await events.next()
        if (step.done === true) {
          const { status, metadata } = step.value
          const ending = said(status.state, child.agent, step.value, true)
          if (!hasGiven && status.state === 'TASK_STATE_FAILED' && isTrouble(metadata?.['reason']))
            return { report: ending }
          if (isInterrupted(status.state)) await save()
          yield ending
          return undefined
        }
        for (const report of await telling.reports(step.value)) {
          hasGiven ||= typeof report === 'object' && 'artifact' in report
          yield report
        }
      }
    } catch (reason) {
      if (hasGiven || !isWorthAnother(reason, turn)) throw reason
      return { reason }
    }
  }

  async function abandon(about: Abandoned): Promise<unknown> {
    const { agent: target, taskId } = routedIn(about.remembered)?.child ?? {}
    if (target === undefined) return typeof agent === 'function' ? undefined : agent.abandon?.(about)
    if (taskId !== undefined) await house.cancel(target, taskId, about)
    return undefined
  }
}

/** An end that somebody else may still better. */
interface Trouble {
  readonly report?: Report
  readonly reason?: unknown
}

async function* tell({ report, reason }: Trouble = {}): AsyncGenerator<Report, void, undefined> {
  if (report === undefined) throw reason
  yield report
}

function isWorthAnother(reason: unknown, { signal }: Turn): boolean {
  return !signal.aborted && isTrouble(A2AError.from(reason).code)
}

async function isLater(turn: Turn): Promise<boolean> {
  return (await turn.history()).length > 1
}

function isTroubled(report: Report): boolean {
  if (typeof report !== 'object' || !('state' in report) || report.state !== 'TASK_STATE_FAILED') return false
  return isTrouble(report.metadata?.['reason'])
}

function asAsked({ parts, metadata, extensions }: Message): AgentMessage {
  return {
    parts,
    ...(metadata !== undefined ? { metadata } : {}),
    ...(extensions !== undefined ? { extensions } : {}),
  }
}

function routedIn(checkpoint: Json | undefined): Routed | undefined {
  if (typeof checkpoint !== 'object' || checkpoint === null || !('routed' in checkpoint)) return undefined
  return checkpoint as unknown as Routed
}
