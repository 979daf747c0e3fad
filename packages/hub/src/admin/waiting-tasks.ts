/**
 * The tasks that wait for input or sign-in, by agent. A question that delegated tasks pass up makes all of them wait: it counts once,
 * at the task of the original caller.
 */
import { isInterrupted } from '@parley/a2a'
import type { AgentCount } from '@parley/a2a/internal'
import type { Store } from '@parley/a2a/stores'
import { delegatedPrefix } from '../delegation/delegated-owner.ts'

export async function countWaiting(store: Pick<Store, 'tasks'>): Promise<ReadonlyMap<string, number>> {
  const [all, delegated] = await Promise.all([
    store.tasks.countUnfinished(),
    store.tasks.countUnfinished(delegatedPrefix),
  ])
  const waiting = new Map<string, number>()
  const add = ({ agent, tasks }: AgentCount, sign: 1 | -1): void =>
    void waiting.set(agent, Math.max(0, (waiting.get(agent) ?? 0) + sign * tasks))
  for (const count of all) if (isInterrupted(count.state)) add(count, 1)
  for (const count of delegated) if (isInterrupted(count.state)) add(count, -1)
  return waiting
}
