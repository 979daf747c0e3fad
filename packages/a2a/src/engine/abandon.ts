/**
 * An agent whose turn is over hears of its task no more. Where it left something waiting elsewhere for the caller's next
 * word, it is told that none will come.
 */
import type { AgentEntry, EngineLog } from './contract.ts'
import { viewOf } from './fold.ts'
import type { Live } from './live.ts'

/** Nobody waits for what the agent does then, and nobody is told if it fails. */
export function tellAbandoned({ fold, partition }: Live, entry: AgentEntry | undefined, log: EngineLog): void {
  const agent = entry?.agent
  if (agent === undefined || typeof agent === 'function' || agent.abandon === undefined) return
  const { abandon } = agent
  const task = viewOf(fold)
  const remembered = fold.checkpoint ?? fold.remembered
  const tell = async (): Promise<unknown> =>
    abandon({ task, caller: { id: partition.owner }, tenant: partition.tenant, remembered, log })
  tell().catch((cause: unknown) => {
    log.warn('an agent failed to let go of a task', { taskId: task.id, agent: partition.agent, cause })
  })
}
