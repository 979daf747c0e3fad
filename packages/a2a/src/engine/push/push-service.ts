/**
 * Push notifications: a third reader of the log, beside streams and polls. Each config is a durable cursor that moves over its task
 * log in order, with retries over hours; no event is copied. Here are the configs as their owners see them: created, read, listed,
 * deleted, and registered inside a message. No call returns before the config is saved. The delivery is in push-scheduler.ts; the server
 * provides dialects and HTTP.
 */
import type { Clock } from '../../model/clock.ts'
import { invalidParams, taskNotFound } from '../../model/error.ts'
import { newId } from '../../model/id.ts'
import type { SendMessageRequest, TaskPushNotificationConfig } from '../../model/operation.ts'
import type { LogRecord } from '../../model/record.ts'
import { isTerminal } from '../../model/state.ts'
import type { PushRow, Store } from '../../stores/store.ts'
import type {
  CallContext,
  EngineLog,
  EnginePush,
  PushConfigService,
  PushCursor,
  PushDeliveryOptions,
  Signer,
} from '../contract.ts'
import type { AcceptedMessage } from '../message/accept-message.ts'
import { pageTokenPurpose } from '../task/list-tasks.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import type { LogPages } from '../task/log-pages.ts'
import { createPushScheduler } from './push-scheduler.ts'
import { isSameTarget, publicConfig, sealTarget } from './push-target.ts'

/** The records at the beginning of a log that are searched first: they contain the message that opened the task. */
const openingRecords = 8
/** The log may hold megabytes. */
const maxRead = 200
const maxReadBytes = 1_000_000

export interface PushServiceDeps extends Clock {
  readonly push: EnginePush
  readonly store: Pick<Store, 'tasks' | 'push'>
  readonly signer: Signer
  readonly log: EngineLog
  readonly sweepMs: number
  readonly pages: LogPages
  find(taskId: string): Promise<LoadedTask | undefined>
  findOwn(id: string, context: CallContext): Promise<LoadedTask>
}

export type PushService = ReturnType<typeof createPushService>

/** A config registered inside a message, and where it begins if the task already exists. */
interface InlinePushConfig {
  readonly config: TaskPushNotificationConfig
  readonly manner: PushDeliveryOptions
  readonly fromSeq?: number
}

type AcceptedTask = Exclude<AcceptedMessage, { reply: unknown }>

export function createPushService(deps: PushServiceDeps) {
  const { push, store, now } = deps
  const scheduler = createPushScheduler(deps)
  const { start, stop, appended } = scheduler

  const configs: PushConfigService = {
    async create(config, context) {
      const loaded = await deps.findOwn(config.taskId ?? '', context)
      const id = configIdOf(config) ?? newId(now())
      await checkConfigLimit(loaded.id, id, 'taskId')
      return save(loaded, { ...config, id }, deliveryOptionsOf(context), loaded.fold.head)
    },

    async get({ taskId, id }, context) {
      const loaded = await deps.findOwn(taskId, context)
      const found = id === undefined ? await defaultConfigOf(loaded.id) : await store.push.load(loaded.id, id)
      // The specification has no error of its own for it (B-117).
      if (found === undefined) throw taskNotFound(taskId)
      return publicConfig(loaded.id, found.id, found.config)
    },

    async list({ taskId, pageSize, pageToken }, context) {
      const loaded = await deps.findOwn(taskId, context)
      const all = await store.push.list(loaded.id)
      const from = pageToken === undefined || pageToken === '' ? 0 : await readToken(loaded.id, pageToken)
      const page = all.slice(from, pageSize === undefined ? undefined : from + pageSize)
      const configs = page.map(({ id, config }) => publicConfig(loaded.id, id, config))
      const next = from + page.length
      return { configs, nextPageToken: next < all.length ? await writeToken(loaded.id, next) : '' }
    },

    async delete({ taskId, id }, context) {
      const loaded = await deps.findOwn(taskId, context)
      const named = id ?? (await defaultConfigOf(loaded.id))?.id
      if (named === undefined) return
      await store.push.delete(loaded.id, named)
      await scheduler.halt(loaded.id, named)
    },

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
      scheduler.deliver(taskId)
      return true
    },
  }

  return {
    configs,
    start,
    stop,
    appended,

    /** Before the message is accepted: reject now what would be rejected afterwards. */
    async prepare(request: SendMessageRequest, context: CallContext): Promise<InlinePushConfig | undefined> {
      const config = request.configuration?.taskPushNotificationConfig
      if (config === undefined) return undefined
      const inline: InlinePushConfig = { config, manner: deliveryOptionsOf(context) }
      const { taskId } = request.message
      if (taskId === undefined) return inline
      const loaded = await deps.findOwn(taskId, context)
      await checkConfigLimit(taskId, configIdOf(config) ?? taskId, 'message.taskId')
      return { ...inline, fromSeq: loaded.fold.head }
    },

    /**
     * After the message is accepted, and before the response (B-71). A new task is delivered from its first event on, an existing
     * one from the message on. A client that missed our response sends the message again, and then finds the config.
     */
    async attach(
      { config, manner, fromSeq }: InlinePushConfig,
      accepted: AcceptedTask,
      messageId: string,
    ): Promise<void> {
      const { loaded, repeated, submittedSeq } = accepted
      // Clients add their config to every message: it is the same config of that task.
      const id = configIdOf(config) ?? loaded.id
      if (repeated === true && (await store.push.load(loaded.id, id)) !== undefined) return
      const isNew = submittedSeq !== undefined
      const from = isNew ? 0 : repeated === true || fromSeq === undefined ? await seqBefore(loaded, messageId) : fromSeq
      await save(loaded, { ...config, id }, manner, from)
    },
  }

  async function save(
    loaded: LoadedTask,
    config: TaskPushNotificationConfig & { readonly id: string },
    manner: PushDeliveryOptions,
    fromSeq: number,
  ): Promise<TaskPushNotificationConfig> {
    const { id } = config
    const known = await store.push.load(loaded.id, id)
    if (known?.state === 'active' && (await isSameTarget(push.sealer, known, config, manner))) {
      return publicConfig(loaded.id, id, known.config)
    }
    // A delivery in flight counts as delivered or is repeated: the old cursor is known when it has ended.
    await scheduler.halt(loaded.id, id)
    const before = await store.push.load(loaded.id, id)
    const sealed = await sealTarget(push.sealer, { taskId: loaded.id, id }, config, manner)
    // A client that replaces a config, to change its token or to fix it, misses nothing: it continues at the old cursor.
    const deliveredSeq = before?.deliveredSeq ?? fromSeq
    const { status, statusSeq } = loaded.fold
    const isOver = isTerminal(status.state) && deliveredSeq >= statusSeq
    await store.push.save({
      taskId: loaded.id,
      id,
      config: sealed,
      deliveredSeq,
      attempt: 0,
      state: isOver ? 'done' : 'active',
      createdAt: before?.createdAt ?? now(),
    })
    // After this response nothing more is delivered to the old webhook, even if a delivery was about to start (B-118).
    await scheduler.halt(loaded.id, id)
    if (!isOver) scheduler.deliver(loaded.id)
    return publicConfig(loaded.id, id, sealed)
  }

  /** For 0.x, which allows requests without an id: the config created without an id, else the newest. */
  async function defaultConfigOf(taskId: string): Promise<PushRow | undefined> {
    const all = await store.push.list(taskId)
    return all.find(({ id }) => id === taskId) ?? all.at(-1)
  }

  async function checkConfigLimit(taskId: string, id: string, field: string): Promise<void> {
    const all = await store.push.list(taskId)
    if (all.length < push.configsPerTask || all.some((push) => push.id === id)) return
    throw invalidParams([{ field, description: `has ${all.length} webhooks, the maximum for a task` }])
  }

  /**
   * Only if a message was repeated, or found its task by itself: the log tells when it arrived. A waiting one is in memory, the one
   * that opened the task is at the beginning, and any other is searched from the end, a page at a time: a client repeats a message
   * soon after it.
   */
  async function seqBefore({ id, fold }: LoadedTask, messageId: string): Promise<number> {
    const isIt = ({ body }: LogRecord): boolean => body.type === 'message' && body.message.messageId === messageId
    const recent = [...fold.waiting, ...(fold.current === undefined ? [] : [fold.current])].find(isIt)
    if (recent !== undefined) return recent.seq - 1
    const opening = (await store.tasks.read(id, 0, openingRecords, maxReadBytes)).find(isIt)
    if (opening !== undefined) return opening.seq - 1
    for (let end = fold.head; end > openingRecords; end -= maxRead) {
      const found = await findRecord(id, Math.max(openingRecords, end - maxRead), end, isIt)
      if (found !== undefined) return found.seq - 1
    }
    return fold.head
  }

  /** The first such record after a seq, up to another. */
  async function findRecord(
    id: string,
    afterSeq: number,
    lastSeq: number,
    isIt: (record: LogRecord) => boolean,
  ): Promise<LogRecord | undefined> {
    for (let after = afterSeq; after < lastSeq;) {
      const records = await store.tasks.read(id, after, lastSeq - after, maxReadBytes)
      const found = records.find(isIt)
      if (found !== undefined) return found
      after = records.at(-1)?.seq ?? lastSeq
    }
    return undefined
  }

  async function writeToken(taskId: string, from: number): Promise<string> {
    return `${from}.${await deps.signer.sign(pageTokenPurpose, `push ${from} ${taskId}`)}`
  }

  async function readToken(taskId: string, token: string): Promise<number> {
    const [from = '', ...signature] = token.split('.')
    const isOurs = await deps.signer.verify(pageTokenPurpose, `push ${from} ${taskId}`, signature.join('.'))
    if (!isOurs) throw invalidParams([{ field: 'pageToken', description: 'is not a token of this list' }])
    return Number(from)
  }
}

function configIdOf({ id }: TaskPushNotificationConfig): string | undefined {
  return id === '' ? undefined : id
}

function deliveryOptionsOf({ push }: CallContext): PushDeliveryOptions {
  if (push === undefined) throw new Error('the call registers a webhook but has no push delivery options')
  return push
}

function cursorOf({ taskId, id, config, deliveredSeq, attempt, state, dueAt }: PushRow): PushCursor {
  const { url } = publicConfig(taskId, id, config)
  return { id, url, deliveredSeq, attempt, state, ...(dueAt !== undefined ? { dueAt } : {}) }
}
