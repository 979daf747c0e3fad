/**
 * How an agent that is a program hands work on: `const answer = yield* delegate({ agent, message })`. What the other agent
 * says passes through, its question is the task's own, and the answer goes down to it. The program is run anew for each turn
 * and after a restart; what it handed on before is found again in the order in which it asks for it.
 */
import { A2AError, isInterrupted, isRedacted } from '@parley/a2a'
import type { Abandoned, AgentMessage, Artifact, Json, Part, Report, Resumed, TaskState, Turn } from '@parley/a2a'
import type { House, HouseAgent } from '../agents/kind.ts'
import { createSaver } from '../agents/saver.ts'
import { hop, newHop } from './hop.ts'
import type { HopEnd, HopState } from './hop.ts'
import { createTelling, said } from './telling.ts'

export interface DelegateOptions {
  /** Another agent of this hub, by its name. */
  readonly agent: string
  readonly message: string | AgentMessage
  /** It fails if it takes longer, answers to its questions included. Default: as long as the task may take. */
  readonly timeoutMs?: number
  /** Whether its artifacts become artifacts of this task, as `agent.artifactId`. Default true. */
  readonly artifacts?: boolean
}

/** What came of it. */
export interface Delegated {
  readonly taskId: string
  readonly artifacts: readonly Artifact[]
  /** Of its last message, if it said one. */
  readonly message: readonly Part[]
  /** The text of all artifacts, or of the message if there are none. */
  readonly text: string
}

/**
 * Throws an A2AError with the code TASK_FAILED if the agent fails or refuses, AGENT_UNAVAILABLE if it is not there, and
 * UNSUPPORTED_OPERATION if it must not be asked: `details.reason` says why.
 */
export type Delegate = (options: DelegateOptions) => AsyncGenerator<Report, Delegated, undefined>

/** What an agent of the kind `module` is given beside its turn. */
export interface AgentTools {
  readonly delegate: Delegate
  /** The agents that work may be handed on to in this turn. */
  agents(): Promise<readonly HouseAgent[]>
}

export interface Delegating {
  /** As the agent is to see it: its own checkpoints are its own. */
  readonly turn: Turn
  readonly tools: AgentTools
}

/** All that a turn keeps: its steps, and what the agent itself kept. */
interface Kept {
  readonly delegation: 1
  steps: HopState[]
  /** In this turn. */
  own?: Json
  /** In the turns before. */
  earlier?: Json
}

export function createDelegating(turn: Turn, house: House, now: () => number): Delegating {
  const kept = beginning(turn)
  const save = createSaver((state) => turn.checkpoint(state), kept)
  const isUnanswered = turn.message.metadata?.['reason'] === 'INPUT_TIMEOUT'
  let made = 0
  let isAnswered = false

  return {
    turn: withOwnCheckpoints(turn, {
      async checkpoint(data) {
        kept.own = data as Json
        // What nobody but the agent writes stays as it writes it.
        return kept.steps.length === 0 ? turn.checkpoint(data) : save()
      },
    }),
    tools: {
      delegate(options) {
        made += 1
        return run(options, made)
      },
      agents: () => house.agents(turn),
    },
  }

  async function* run(options: DelegateOptions, nth: number): AsyncGenerator<Report, Delegated, undefined> {
    const { agent, timeoutMs, artifacts = true } = options
    const state = stepOf(agent, nth)
    const answer = takeAnswer(state)
    if (state.asked === true && isUnanswered) await giveUp(state)
    const telling = createTelling({
      turn,
      agent,
      named: namer(agent, kept.steps.slice(0, nth - 1)),
      isKnown: state.taskId !== undefined,
    })
    const deadlineAt = timeoutMs === undefined ? undefined : now() + timeoutMs
    const events = hop({ house, turn, state, save, message: messageOf(options.message), answer, deadlineAt })
    for (;;) {
      const step = await events.next()
      if (step.done === true) return yield* settle(step.value, state)
      for (const report of await telling.reports(step.value)) {
        if (artifacts || !(typeof report === 'object' && 'artifact' in report)) yield report
      }
    }
  }

  async function* settle(end: HopEnd, state: HopState): AsyncGenerator<Report, Delegated, undefined> {
    const { status, taskId } = end
    const { agent } = state
    if (isInterrupted(status.state)) {
      await save()
      yield said(status.state, agent, end)
      throw new Error('the turn has ended with a question')
    }
    if (status.state !== 'TASK_STATE_COMPLETED') throw notDone(agent, end)
    const { artifacts = [] } = await house.task(agent, taskId, turn)
    const message = status.message?.parts ?? []
    const parts = artifacts.length > 0 ? artifacts.flatMap((one) => one.parts) : message
    return { taskId, artifacts, message, text: textOf(parts) }
  }

  /** The one of before, if the program asks for the same again; what it does otherwise now is new from there on. */
  function stepOf(agent: string, nth: number): HopState {
    const known = kept.steps[nth - 1]
    if (known?.agent === agent) return known
    const state = newHop(turn, agent, String(nth))
    kept.steps.splice(nth - 1, Infinity, state)
    return state
  }

  /** The turn's message is for the first who asked. A secret that a restart has lost is asked for again. */
  function takeAnswer({ asked }: HopState): AgentMessage | undefined {
    if (asked !== true || isAnswered || isUnanswered || isRedacted(turn.message)) return undefined
    isAnswered = true
    const { parts, metadata, extensions } = turn.message
    return {
      parts,
      ...(metadata !== undefined ? { metadata } : {}),
      ...(extensions !== undefined ? { extensions } : {}),
    }
  }

  async function giveUp({ agent, taskId }: HopState): Promise<never> {
    if (taskId !== undefined) await house.cancel(agent, taskId, turn).catch(() => {})
    throw new A2AError('TASK_FAILED', `Nobody answered the question of ${agent} in time`)
  }
}

/** What was handed on for a task that is over waits for nobody any more. */
export async function abandonSteps({ remembered, caller, tenant, log }: Abandoned, house: House): Promise<void> {
  const steps = keptIn(remembered)?.steps ?? []
  await Promise.all(
    steps.map(async ({ agent, taskId }) => {
      if (taskId === undefined) return
      await house.cancel(agent, taskId, { caller, tenant }).catch((cause: unknown) => {
        log.debug('a task that was handed on could not be canceled', { agent, childTaskId: taskId, cause })
      })
    }),
  )
}

function keptIn(checkpoint: Json | undefined): Kept | undefined {
  if (typeof checkpoint !== 'object' || checkpoint === null || !('delegation' in checkpoint)) return undefined
  return Array.isArray(checkpoint['steps']) ? (checkpoint as unknown as Kept) : undefined
}

function beginning({ resumed, remembered }: Turn): Kept {
  const interrupted = keptIn(resumed?.checkpoint)
  if (interrupted !== undefined) return structuredClone(interrupted)
  const before = keptIn(remembered)
  // A turn that ended otherwise than with a question is over, and so is all that it handed on.
  const isAsking = before?.steps.some(({ asked }) => asked === true) === true
  const [own, earlier] = [resumed?.checkpoint, ownRemembered(remembered)]
  return structuredClone({
    delegation: 1,
    steps: isAsking ? before.steps : [],
    ...(own !== undefined ? { own } : {}),
    ...(earlier !== undefined ? { earlier } : {}),
  })
}

/** What the agent kept of its own in the turns before. */
export function ownRemembered(remembered: Json | undefined): Json | undefined {
  const kept = keptIn(remembered)
  return kept === undefined ? remembered : (kept.own ?? kept.earlier)
}

/** The engine's turn is a class with private parts, so it is looked through and not copied. */
function withOwnCheckpoints(turn: Turn, own: Pick<Turn, 'checkpoint'>): Turn {
  return new Proxy(turn, {
    get(target, name): unknown {
      if (name === 'checkpoint') return own.checkpoint
      if (name === 'remembered') return ownRemembered(target.remembered)
      if (name === 'resumed') return ownResumed(target.resumed)
      return Reflect.get(target, name, target)
    },
  })
}

function ownResumed(resumed: Resumed | undefined): Resumed | undefined {
  if (resumed?.checkpoint === undefined) return resumed
  const { checkpoint, ...rest } = resumed
  const kept = keptIn(checkpoint)
  const own = kept === undefined ? checkpoint : kept.own
  return own === undefined ? rest : { ...rest, checkpoint: own }
}

/** Of several children of one agent the later ones have a number. */
function namer(agent: string, before: readonly HopState[]): (artifactId: string) => string {
  const count = 1 + before.filter((step) => step.agent === agent).length
  const prefix = count === 1 ? agent : `${agent}-${count}`
  return (artifactId) => `${prefix}.${artifactId}`
}

const words: Partial<Record<TaskState, string>> = {
  TASK_STATE_REJECTED: 'refused',
  TASK_STATE_CANCELED: 'was canceled',
}

function notDone(agent: string, { status, taskId, metadata }: HopEnd): A2AError {
  const why = textOf(status.message?.parts ?? [])
  const text = `The agent ${agent} ${words[status.state] ?? 'failed'}${why === '' ? '' : `: ${why}`}`
  const reason = metadata?.['reason']
  return new A2AError('TASK_FAILED', text, {
    taskId,
    state: status.state,
    ...(typeof reason === 'string' ? { reason } : {}),
  })
}

function messageOf(message: string | AgentMessage): AgentMessage {
  return typeof message === 'string' ? { parts: [{ text: message }] } : message
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
}
