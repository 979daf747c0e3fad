/** The parts of a running hub that an erasure uses: tasks in memory, credentials, and data that is not written yet. */
import { A2AError } from '@parley/a2a'
import type { Handler } from '@parley/a2a/server'
import type { AccessControl } from '../auth/access-control.ts'
import type { StatsHistory } from '../telemetry/stats/stats-history.ts'
import { isOwnedBy } from './caller-data.ts'
import type { LiveHub } from './erase-caller.ts'
import type { ErasedTasks } from './erased-tasks.ts'

export interface LiveHubDeps {
  readonly access: Pick<AccessControl, 'keys' | 'sessions' | 'audit'>
  handler(): Promise<Pick<Handler, 'engine'>>
  flushTraces(): Promise<void>
  readonly stats: Pick<StatsHistory, 'flush' | 'forgetCaller'>
  readonly erasedTasks: ErasedTasks
}

export function createLiveHub({ access, handler, flushTraces, stats, erasedTasks }: LiveHubDeps): LiveHub {
  const { keys, sessions, audit } = access
  return {
    async cancel(taskId) {
      try {
        await (await handler()).engine.tasks.cancel(taskId)
      } catch (reason) {
        const code = reason instanceof A2AError ? reason.code : undefined
        // It has ended meanwhile, or was erased before.
        if (code !== 'TASK_NOT_CANCELABLE' && code !== 'TASK_NOT_FOUND') throw reason
      }
    },
    async forget(taskIds) {
      erasedTasks.add(taskIds)
      ;(await handler()).engine.tasks.forget(taskIds)
    },
    async revokeKey(id) {
      await keys.revoke(id)
      keys.forgetUse(id)
    },
    endSession: async (id) => void (await sessions.end(id)),
    async flush() {
      await Promise.all([audit.flush(), flushTraces()])
      // The spans of the traces are counted.
      await stats.flush()
    },
    forgetCaller: (caller) => stats.forgetCaller((name) => isOwnedBy(name, caller)),
  }
}
