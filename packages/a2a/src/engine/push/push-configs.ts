/**
 * Push notification configs as their owners see them: created, read, listed, deleted, and registered inside a message. A config is
 * a cursor over its task log; this module decides where it begins. No call returns before the config is saved.
 */
import { pageTokenPurpose } from '../task/list-tasks.ts'
import { invalidParams, taskNotFound } from '../../model/error.ts'
import { newId } from '../../model/id.ts'
import type {
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  PushNotificationConfigKey,
  SendMessageRequest,
  TaskPushNotificationConfig,
} from '../../model/operation.ts'
import type { LogRecord } from '../../model/record.ts'
import { isTerminal } from '../../model/state.ts'
import type { PushRow, Store } from '../../stores/store.ts'
import type { AcceptedMessage } from '../message/accept-message.ts'
import type { CallContext, PushDeliveryOptions, Sealer, Signer } from '../contract.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import { isSameTarget, sealTarget, publicConfig } from './push-target.ts'

/** The records at the beginning of a log that are searched first: they contain the message that opened the task. */
const openingRecords = 8
/** The log may hold megabytes. */
const maxRead = 200
const maxReadBytes = 1_000_000

export interface PushConfigsDeps {
  readonly store: Pick<Store, 'tasks' | 'push'>
  readonly sealer: Sealer
  readonly signer: Signer
  readonly perTask: number
  now(): number
  findOwn(id: string, context: CallContext): Promise<LoadedTask>
  /** Aborts deliveries for the config, and resolves when they have ended. */
  stopDelivery(taskId: string, id: string): Promise<void>
  /** Called after a config was saved: there may be something to deliver. */
  onSaved(taskId: string): void
}

/** A config registered inside a message, and where it begins if the task already exists. */
export interface InlinePushConfig {
  readonly config: TaskPushNotificationConfig
  readonly manner: PushDeliveryOptions
  readonly fromSeq?: number
}

type AcceptedTask = Exclude<AcceptedMessage, { reply: unknown }>

export function createPushConfigs(deps: PushConfigsDeps) {
  const { store } = deps

  return {
    async create(config: TaskPushNotificationConfig, context: CallContext): Promise<TaskPushNotificationConfig> {
      const loaded = await deps.findOwn(config.taskId ?? '', context)
      const id = configIdOf(config) ?? newId(deps.now())
      await checkConfigLimit(loaded.id, id, 'taskId')
      return save(loaded, { ...config, id }, deliveryOptionsOf(context), loaded.fold.head)
    },

    async get({ taskId, id }: PushNotificationConfigKey, context: CallContext): Promise<TaskPushNotificationConfig> {
      const loaded = await deps.findOwn(taskId, context)
      const found = id === undefined ? await defaultConfigOf(loaded.id) : await store.push.load(loaded.id, id)
      // The specification has no error of its own for it (B-117).
      if (found === undefined) throw taskNotFound(taskId)
      return publicConfig(loaded.id, found.id, found.config)
    },

    async list(
      { taskId, pageSize, pageToken }: ListTaskPushNotificationConfigsRequest,
      context: CallContext,
    ): Promise<ListTaskPushNotificationConfigsResponse> {
      const loaded = await deps.findOwn(taskId, context)
      const all = await store.push.list(loaded.id)
      const from = pageToken === undefined || pageToken === '' ? 0 : await readToken(loaded.id, pageToken)
      const page = all.slice(from, pageSize === undefined ? undefined : from + pageSize)
      const configs = page.map(({ id, config }) => publicConfig(loaded.id, id, config))
      const next = from + page.length
      return { configs, nextPageToken: next < all.length ? await writeToken(loaded.id, next) : '' }
    },

    async delete({ taskId, id }: PushNotificationConfigKey, context: CallContext): Promise<void> {
      const loaded = await deps.findOwn(taskId, context)
      const named = id ?? (await defaultConfigOf(loaded.id))?.id
      if (named === undefined) return
      await store.push.delete(loaded.id, named)
      await deps.stopDelivery(loaded.id, named)
    },

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
    if (known?.state === 'active' && (await isSameTarget(deps.sealer, known, config, manner))) {
      return publicConfig(loaded.id, id, known.config)
    }
    // A delivery in flight counts as delivered or is repeated: the old cursor is known when it has ended.
    await deps.stopDelivery(loaded.id, id)
    const before = await store.push.load(loaded.id, id)
    const sealed = await sealTarget(deps.sealer, { taskId: loaded.id, id }, config, manner)
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
      createdAt: before?.createdAt ?? deps.now(),
    })
    // After this response nothing more is delivered to the old webhook, even if a delivery was about to start (B-118).
    await deps.stopDelivery(loaded.id, id)
    if (!isOver) deps.onSaved(loaded.id)
    return publicConfig(loaded.id, id, sealed)
  }

  /** For 0.x, which allows requests without an id: the config created without an id, else the newest. */
  async function defaultConfigOf(taskId: string): Promise<PushRow | undefined> {
    const all = await store.push.list(taskId)
    return all.find(({ id }) => id === taskId) ?? all.at(-1)
  }

  async function checkConfigLimit(taskId: string, id: string, field: string): Promise<void> {
    const all = await store.push.list(taskId)
    if (all.length < deps.perTask || all.some((push) => push.id === id)) return
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
