/**
 * Webhooks: a third reader of the log, beside streams and polls. Each is a durable cursor that is moved over the log of
 * its task in order, with retries over hours; there is no copy of any event. What is put together here: the operations
 * on configs (push-configs.ts) and the delivery (push-rounds.ts). Dialects and HTTP are the server's.
 */
import type { Clock } from '../model/clock.ts'
import type { PushRow, Store } from '../stores/store.ts'
import type { CallContext, EngineLog, EnginePush, PushCursor, PushDesk, Signer } from './contract.ts'
import type { Live } from './live.ts'
import { createPushConfigs } from './push-configs.ts'
import { createPushRounds } from './push-rounds.ts'
import { shownConfig } from './push-target.ts'

export interface PushParts extends Clock {
  readonly push: EnginePush
  readonly store: Store
  readonly signer: Signer
  readonly log: EngineLog
  readonly sweepMs: number
  find(taskId: string): Promise<Live | undefined>
  findOwn(id: string, context: CallContext): Promise<Live>
}

export type Push = ReturnType<typeof createPush>

export function createPush(parts: PushParts) {
  const { push, store, now } = parts
  const rounds = createPushRounds(parts)
  const configs = createPushConfigs({
    store,
    sealer: push.sealer,
    signer: parts.signer,
    perTask: push.configsPerTask,
    now,
    findOwn: parts.findOwn,
    halt: rounds.halt,
    saved(taskId) {
      rounds.watch(taskId)
      rounds.wake()
    },
  })
  const { create, get, list, delete: remove, prepare, attach } = configs
  const desk: PushDesk = {
    create,
    get,
    list,
    delete: remove,
    async cursors(taskId) {
      return (await store.listPush(taskId)).map(cursorOf)
    },
    async search(query) {
      const { pushes, before } = await store.searchPush(query)
      const cursors = pushes.map((row) => ({ ...cursorOf(row), taskId: row.taskId, createdAt: row.createdAt }))
      return { cursors, ...(before !== undefined ? { before } : {}) }
    },
    attempts: (taskId, id, limit) => store.listAttempts(taskId, id, limit),
    async redeliver(taskId, id, afterSeq) {
      await rounds.halt(taskId, id)
      const row = await store.loadPush(taskId, id)
      if (row === undefined) return false
      const deliveredSeq = afterSeq ?? row.deliveredSeq
      await store.savePush({ ...row, deliveredSeq, state: 'active', attempt: 0, dueAt: now() })
      rounds.watch(taskId)
      rounds.wake()
      return true
    },
  }
  const { start, stop, appended } = rounds
  return { desk, prepare, attach, start, stop, appended }
}

function cursorOf({ taskId, id, config, deliveredSeq, attempt, state, dueAt }: PushRow): PushCursor {
  const { url } = shownConfig(taskId, id, config)
  return { id, url, deliveredSeq, attempt, state, ...(dueAt !== undefined ? { dueAt } : {}) }
}
