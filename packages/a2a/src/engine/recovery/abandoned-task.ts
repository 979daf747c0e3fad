/**
 * After its turn an agent gets no more events of its task. If it left something waiting elsewhere for the next message of the
 * caller, this tells it that none will come.
 */
import type { AgentEntry, EngineLog } from '../contract.ts'
import { taskView } from '../task/fold.ts'
import type { LoadedTask } from '../task/loaded-task.ts'

/** The handler is not awaited; an error in it is only logged. */
export function notifyAbandoned({ fold, partition }: LoadedTask, entry: AgentEntry | undefined, log: EngineLog): void {
  const agent = entry?.agent
  if (agent === undefined || typeof agent === 'function' || agent.onAbandoned === undefined) return
  const { onAbandoned } = agent
  const task = taskView(fold)
  const remembered = fold.checkpoint ?? fold.remembered
  const tell = async (): Promise<unknown> =>
    onAbandoned({ task, caller: { id: partition.owner }, tenant: partition.tenant, lastCheckpoint: remembered, log })
  tell().catch((cause: unknown) => {
    log.warn('onAbandoned of an agent failed', { taskId: task.id, agent: partition.agent, cause })
  })
}
