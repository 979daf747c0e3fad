/** The checkpoint of a turn that delegates: its delegations, and the agent's own data. The agent sees only its own. */
import { omitUndefined } from '@parley/a2a/internal'
import type { AbandonedTask, Json, ResumeState, Turn } from '@parley/a2a'
import type { InProcessClient } from '../agents/kind.ts'
import type { HopState } from './hop.ts'

export interface DelegationCheckpoint {
  readonly delegation: 1
  steps: HopState[]
  /** Data of this turn. */
  own?: Json
  /** Data of earlier turns. */
  earlier?: Json
}

/** Cancels the delegations of a task that has ended. */
export async function cancelChildren(
  { lastCheckpoint, caller, tenant, log }: AbandonedTask,
  inProcessClient: InProcessClient,
): Promise<void> {
  const steps = readDelegationCheckpoint(lastCheckpoint)?.steps ?? []
  await Promise.all(
    steps.map(async ({ agent, taskId }) => {
      if (taskId === undefined) return
      await inProcessClient.cancel(agent, taskId, { caller, tenant }).catch((cause: unknown) => {
        log.debug('a delegated task could not be canceled', { agent, childTaskId: taskId, cause })
      })
    }),
  )
}

function readDelegationCheckpoint(checkpoint: Json | undefined): DelegationCheckpoint | undefined {
  if (typeof checkpoint !== 'object' || checkpoint === null || !('delegation' in checkpoint)) return undefined
  return Array.isArray(checkpoint['steps']) ? (checkpoint as unknown as DelegationCheckpoint) : undefined
}

export function initialDelegationCheckpoint({ resumed, lastCheckpoint }: Turn): DelegationCheckpoint {
  // Nothing to copy, as in most turns.
  if (resumed?.checkpoint === undefined && lastCheckpoint === undefined) return { delegation: 1, steps: [] }
  const interrupted = readDelegationCheckpoint(resumed?.checkpoint)
  if (interrupted !== undefined) return structuredClone(interrupted)
  const before = readDelegationCheckpoint(lastCheckpoint)
  // A turn that ended without a question is over, and so are all its delegations.
  const isAsking = before?.steps.some(({ asked }) => asked === true) === true
  const [own, earlier] = [resumed?.checkpoint, ownRemembered(lastCheckpoint)]
  return structuredClone({
    delegation: 1,
    steps: isAsking ? before.steps : [],
    ...omitUndefined({ own, earlier }),
  })
}

/** The agent's own data of earlier turns. */
export function ownRemembered(remembered: Json | undefined): Json | undefined {
  const kept = readDelegationCheckpoint(remembered)
  return kept === undefined ? remembered : (kept.own ?? kept.earlier)
}

/** The engine's turn is a class with private fields, so it is proxied and not copied. */
export function withOwnCheckpoints(turn: Turn, own: Pick<Turn, 'checkpoint'>): Turn {
  return new Proxy(turn, {
    get(target, name): unknown {
      if (name === 'checkpoint') return own.checkpoint
      if (name === 'lastCheckpoint') return ownRemembered(target.lastCheckpoint)
      if (name === 'resumed') return ownResumed(target.resumed)
      return Reflect.get(target, name, target)
    },
  })
}

function ownResumed(resumed: ResumeState | undefined): ResumeState | undefined {
  if (resumed?.checkpoint === undefined) return resumed
  const { checkpoint, ...rest } = resumed
  const kept = readDelegationCheckpoint(checkpoint)
  const own = kept === undefined ? checkpoint : kept.own
  return own === undefined ? rest : { ...rest, checkpoint: own }
}
