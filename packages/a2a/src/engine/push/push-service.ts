/**
 * Push notifications: a third reader of the log, beside streams and polls. Each config is a durable cursor that moves over its task
 * log in order, with retries over hours; no event is copied. This module combines the operations on configs (push-configs.ts) and
 * the delivery (push-scheduler.ts). The server provides dialects and HTTP.
 */
import type { Clock } from '../../model/clock.ts'
import type { PushRow, Store } from '../../stores/store.ts'
import type { CallContext, EngineLog, EnginePush, PushCursor, PushConfigService, Signer } from '../contract.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import { createPushConfigs } from './push-configs.ts'
import { createPushScheduler } from './push-scheduler.ts'
import { publicConfig } from './push-target.ts'

export interface PushServiceDeps extends Clock {
  readonly push: EnginePush
  readonly store: Pick<Store, 'tasks' | 'push'>
  readonly signer: Signer
  readonly log: EngineLog
  readonly sweepMs: number
  find(taskId: string): Promise<LoadedTask | undefined>
  findOwn(id: string, context: CallContext): Promise<LoadedTask>
}

export type PushService = ReturnType<typeof createPushService>

export function createPushService(deps: PushServiceDeps) {
  const { push, store, now } = deps
  const scheduler = createPushScheduler(deps)
  const configs = createPushConfigs({
    store,
    sealer: push.sealer,
    signer: deps.signer,
    perTask: push.configsPerTask,
    now,
    findOwn: deps.findOwn,
    stopDelivery: scheduler.halt,
    onSaved(taskId) {
      scheduler.watch(taskId)
      scheduler.wake()
    },
  })
  const { create, get, list, delete: remove, prepare, attach } = configs
  const service: PushConfigService = {
    create,
    get,
    list,
    delete: remove,
    async cursors(taskId) {
      return (await store.push.list(taskId)).map(cursorOf)
    },
    async search(query) {
      const { pushes, before } = await store.push.search(query)
      const cursors = pushes.map((row) => ({ ...cursorOf(row), taskId: row.taskId, createdAt: row.createdAt }))
      return { cursors, ...(before !== undefined ? { before } : {}) }
    },
    attempts: (taskId, id, limit) => store.push.listAttempts(taskId, id, limit),
    async redeliver(taskId, id, afterSeq) {
      await scheduler.halt(taskId, id)
      const row = await store.push.load(taskId, id)
      if (row === undefined) return false
      const deliveredSeq = afterSeq ?? row.deliveredSeq
      await store.push.save({ ...row, deliveredSeq, state: 'active', attempt: 0, dueAt: now() })
      scheduler.watch(taskId)
      scheduler.wake()
      return true
    },
  }
  const { start, stop, appended } = scheduler
  return { configs: service, prepare, attach, start, stop, appended }
}

function cursorOf({ taskId, id, config, deliveredSeq, attempt, state, dueAt }: PushRow): PushCursor {
  const { url } = publicConfig(taskId, id, config)
  return { id, url, deliveredSeq, attempt, state, ...(dueAt !== undefined ? { dueAt } : {}) }
}
