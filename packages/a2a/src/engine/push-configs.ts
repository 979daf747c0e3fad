/**
 * Webhooks as their owners see them: made, read, listed, deleted, and asked for inside a message. A config is a cursor
 * over the log of its task; where it begins is decided here. Nothing is promised before it is saved.
 */
import { invalidParams, taskNotFound } from '../model/error.ts'
import { newId } from '../model/id.ts'
import type {
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  PushNotificationConfigKey,
  SendMessageRequest,
  TaskPushNotificationConfig,
} from '../model/operation.ts'
import type { LogRecord } from '../model/record.ts'
import { isTerminal } from '../model/state.ts'
import type { PushRow, Store } from '../stores/store.ts'
import type { Accepted } from './accept.ts'
import type { CallContext, PushManner, Sealer, Signer } from './contract.ts'
import type { Live } from './live.ts'
import { isSameTarget, keepTarget, shownConfig } from './push-target.ts'

/** Of a log that may hold megabytes. */
const maxRead = 200
const maxReadBytes = 1_000_000

export interface PushConfigsParts {
  readonly store: Store
  readonly sealer: Sealer
  readonly signer: Signer
  readonly perTask: number
  now(): number
  findOwn(id: string, context: CallContext): Promise<Live>
  /** Ends what is being delivered for it, and resolves when it has ended. */
  halt(taskId: string, id: string): Promise<void>
  /** A config was saved: there may be something to deliver. */
  saved(taskId: string): void
}

/** Who asks for a webhook inside a message, and where it begins if the task is already there. */
export interface Inline {
  readonly config: TaskPushNotificationConfig
  readonly manner: PushManner
  readonly fromSeq?: number
}

type Opened = Exclude<Accepted, { reply: unknown }>

export function createPushConfigs(parts: PushConfigsParts) {
  const { store } = parts

  return {
    async create(config: TaskPushNotificationConfig, context: CallContext): Promise<TaskPushNotificationConfig> {
      const live = await parts.findOwn(config.taskId ?? '', context)
      const id = nameOf(config) ?? newId(parts.now())
      await checkRoom(live.id, id, 'taskId')
      return save(live, { ...config, id }, mannerOf(context), live.fold.head)
    },

    async get({ taskId, id }: PushNotificationConfigKey, context: CallContext): Promise<TaskPushNotificationConfig> {
      const live = await parts.findOwn(taskId, context)
      const found = id === undefined ? await anyOf(live.id) : await store.loadPush(live.id, id)
      // The text has no error of its own for it (B-117).
      if (found === undefined) throw taskNotFound(taskId)
      return shownConfig(live.id, found.id, found.config)
    },

    async list(
      { taskId, pageSize, pageToken }: ListTaskPushNotificationConfigsRequest,
      context: CallContext,
    ): Promise<ListTaskPushNotificationConfigsResponse> {
      const live = await parts.findOwn(taskId, context)
      const all = await store.listPush(live.id)
      const from = pageToken === undefined || pageToken === '' ? 0 : await readToken(live.id, pageToken)
      const page = all.slice(from, pageSize === undefined ? undefined : from + pageSize)
      const configs = page.map(({ id, config }) => shownConfig(live.id, id, config))
      const next = from + page.length
      return { configs, nextPageToken: next < all.length ? await writeToken(live.id, next) : '' }
    },

    async delete({ taskId, id }: PushNotificationConfigKey, context: CallContext): Promise<void> {
      const live = await parts.findOwn(taskId, context)
      const named = id ?? (await anyOf(live.id))?.id
      if (named === undefined) return
      await store.deletePush(live.id, named)
      await parts.halt(live.id, named)
    },

    /** Before the message is taken: what would be refused afterwards is refused now. */
    async prepare(request: SendMessageRequest, context: CallContext): Promise<Inline | undefined> {
      const config = request.configuration?.taskPushNotificationConfig
      if (config === undefined) return undefined
      const inline: Inline = { config, manner: mannerOf(context) }
      const { taskId } = request.message
      if (taskId === undefined) return inline
      const live = await parts.findOwn(taskId, context)
      await checkRoom(taskId, nameOf(config) ?? taskId, 'message.taskId')
      return { ...inline, fromSeq: live.fold.head }
    },

    /**
     * After it, and before anybody is answered (B-71). A new task is told of from its first event on, an old one from
     * its message on. Whoever did not hear our answer sends the message again, and then finds the config there.
     */
    async attach({ config, manner, fromSeq }: Inline, accepted: Opened, messageId: string): Promise<void> {
      const { live, repeated, submittedSeq } = accepted
      // Clients add theirs to every message: it is one and the same webhook of that task.
      const id = nameOf(config) ?? live.id
      if (repeated === true && (await store.loadPush(live.id, id)) !== undefined) return
      const isNew = submittedSeq !== undefined
      const from = isNew ? 0 : repeated === true || fromSeq === undefined ? await seqBefore(live, messageId) : fromSeq
      await save(live, { ...config, id }, manner, from)
    },
  }

  async function save(
    live: Live,
    config: TaskPushNotificationConfig & { readonly id: string },
    manner: PushManner,
    fromSeq: number,
  ): Promise<TaskPushNotificationConfig> {
    const { id } = config
    const known = await store.loadPush(live.id, id)
    if (known?.state === 'active' && (await isSameTarget(parts.sealer, known, config, manner))) {
      return shownConfig(live.id, id, known.config)
    }
    // What is on its way counts as told or is told anew: where the old one was is known when it has ended.
    await parts.halt(live.id, id)
    const before = await store.loadPush(live.id, id)
    const kept = await keepTarget(parts.sealer, { taskId: live.id, id }, config, manner)
    // Who replaces a webhook, to change its token or to mend it, misses nothing: it goes on where the old one was.
    const deliveredSeq = before?.deliveredSeq ?? fromSeq
    const { status, statusSeq } = live.fold
    const isOver = isTerminal(status.state) && deliveredSeq >= statusSeq
    await store.savePush({
      taskId: live.id,
      id,
      config: kept,
      deliveredSeq,
      attempt: 0,
      state: isOver ? 'done' : 'active',
      createdAt: before?.createdAt ?? parts.now(),
    })
    // Nobody hears by the old one any more when this is answered, also if it was just about to be told (B-118).
    await parts.halt(live.id, id)
    if (!isOver) parts.saved(live.id)
    return shownConfig(live.id, id, kept)
  }

  /** For 0.x, where one may ask without an id: the one that was made without, else the newest. */
  async function anyOf(taskId: string): Promise<PushRow | undefined> {
    const all = await store.listPush(taskId)
    return all.find(({ id }) => id === taskId) ?? all.at(-1)
  }

  async function checkRoom(taskId: string, id: string, field: string): Promise<void> {
    const all = await store.listPush(taskId)
    if (all.length < parts.perTask || all.some((push) => push.id === id)) return
    throw invalidParams([{ field, description: `has ${all.length} webhooks, which is as many as a task may have` }])
  }

  /**
   * Only where a message came twice, or found its task by itself: the log says when it came. One that came lately is at
   * hand; an older one is looked for from the beginning, a page at a time.
   */
  async function seqBefore({ id, fold }: Live, messageId: string): Promise<number> {
    const isIt = ({ body }: LogRecord): boolean => body.type === 'message' && body.message.messageId === messageId
    const lately = [...fold.waiting, ...(fold.current === undefined ? [] : [fold.current])].find(isIt)
    if (lately !== undefined) return lately.seq - 1
    for (let after = 0; after < fold.head;) {
      const records = await store.read(id, after, maxRead, maxReadBytes)
      const found = records.find(isIt)
      if (found !== undefined) return found.seq - 1
      after = records.at(-1)?.seq ?? fold.head
    }
    return fold.head
  }

  async function writeToken(taskId: string, from: number): Promise<string> {
    return `${from}.${await parts.signer.sign('page', `push ${from} ${taskId}`)}`
  }

  async function readToken(taskId: string, token: string): Promise<number> {
    const [from = '', ...signature] = token.split('.')
    const isOurs = await parts.signer.verify('page', `push ${from} ${taskId}`, signature.join('.'))
    if (!isOurs) throw invalidParams([{ field: 'pageToken', description: 'is not a token of this list' }])
    return Number(from)
  }
}

function nameOf({ id }: TaskPushNotificationConfig): string | undefined {
  return id === '' ? undefined : id
}

function mannerOf({ push }: CallContext): PushManner {
  if (push === undefined) throw new Error('a webhook was asked for by a call that does not say how it is told')
  return push
}
