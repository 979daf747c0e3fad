/**
 * A LangGraph checkpointer over the store of a turn: the thread is part of the task log, so it survives the process, another replica
 * continues it, and it is removed with its task. The next task of the conversation starts from the thread of the last completed one;
 * concurrent tasks have a copy each, and cannot corrupt each other's.
 *
 * Keeps the newest checkpoint of each namespace, which is all that a run, an interrupt and a restart need.
 */
import type { TurnStore } from '../../agents/agent.ts'
import { bytesToBase64 } from '../../client/attachment-part.ts'

/** The serializer of LangGraph's checkpointers (`checkpointer.serde`), which revives messages. */
export interface GraphSerializer {
  dumpsTyped(value: unknown): Promise<[string, Uint8Array]>
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>
}

/** Which checkpoint of which thread. */
export interface GraphConfig {
  readonly configurable?: {
    readonly thread_id?: string
    readonly checkpoint_ns?: string
    readonly checkpoint_id?: string
  }
}

interface GraphCheckpoint {
  readonly id: string
}

interface CheckpointTuple {
  readonly config: GraphConfig
  readonly checkpoint: GraphCheckpoint
  readonly metadata: unknown
  readonly parentConfig?: GraphConfig
  readonly pendingWrites: readonly (readonly [taskId: string, channel: string, value: unknown])[]
}

/** A serialized value. */
type Dumped = readonly [type: string, text: string]

interface StoredCheckpoint {
  readonly id: string
  readonly parentId?: string
  readonly checkpoint: Dumped
  readonly metadata: Dumped
}

interface StoredWrites {
  readonly checkpointId: string
  /** By task and index. */
  readonly writes: Readonly<Record<string, readonly [taskId: string, channel: string, value: Dumped]>>
}

/** Writes of these channels replace earlier ones of their task, as LangGraph's checkpointers do it. */
const specialIndexes: Readonly<Record<string, number>> = {
  __error__: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
}

const maxNamespaceLength = 200
const decoder = new TextDecoder()

/** The checkpointer of one turn. Structurally a `BaseCheckpointSaver`. */
export interface TurnCheckpointer {
  readonly serde: GraphSerializer
  getTuple(config: GraphConfig): Promise<CheckpointTuple | undefined>
  get(config: GraphConfig): Promise<GraphCheckpoint | undefined>
  list(config: GraphConfig): AsyncGenerator<CheckpointTuple>
  put(config: GraphConfig, checkpoint: GraphCheckpoint, metadata: unknown): Promise<GraphConfig>
  putWrites(config: GraphConfig, writes: readonly (readonly [string, unknown])[], taskId: string): Promise<void>
  deleteThread(): Promise<void>
  getDeltaChannelHistory(options: { readonly channels: readonly string[] }): Promise<object>
  getNextVersion(current: unknown): number
  toJSON(): string
}

export function createTurnCheckpointer(store: TurnStore, serde: GraphSerializer): TurnCheckpointer {
  /** Writes of one step arrive concurrently: each is added here first, then all are stored. */
  const writesOf = new Map<string, StoredWrites>()

  async function getTuple(config: GraphConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id, checkpoint_ns = '', checkpoint_id = '' } = config.configurable ?? {}
    const stored = await readCheckpoint(checkpoint_ns)
    if (stored === undefined || (checkpoint_id !== '' && checkpoint_id !== stored.id)) return undefined
    const at = (id: string): GraphConfig => ({
      configurable: { checkpoint_ns, checkpoint_id: id, ...(thread_id !== undefined ? { thread_id } : {}) },
    })
    const writes = Object.values((await readWrites(checkpoint_ns, stored.id)).writes)
    return {
      config: at(stored.id),
      checkpoint: (await load(stored.checkpoint)) as GraphCheckpoint,
      metadata: await load(stored.metadata),
      pendingWrites: await Promise.all(
        writes.map(async ([taskId, channel, value]) => [taskId, channel, await load(value)] as const),
      ),
      ...(stored.parentId !== undefined ? { parentConfig: at(stored.parentId) } : {}),
    }
  }

  async function readCheckpoint(namespace: string): Promise<StoredCheckpoint | undefined> {
    const key = checkpointKey(namespace)
    const found = (await store.get(key)) ?? (await store.earlier(key))
    return found as StoredCheckpoint | undefined
  }

  /** An earlier task that completed left no writes that matter. */
  async function readWrites(namespace: string, checkpointId: string): Promise<StoredWrites> {
    const known = writesOf.get(namespace) ?? ((await store.get(writesKey(namespace))) as StoredWrites | undefined)
    return known?.checkpointId === checkpointId ? known : { checkpointId, writes: {} }
  }

  async function dump(value: unknown): Promise<Dumped> {
    const [type, bytes] = await serde.dumpsTyped(value)
    return [type, type === 'json' ? decoder.decode(bytes) : bytesToBase64(bytes)]
  }

  function load([type, text]: Dumped): Promise<unknown> {
    return serde.loadsTyped(type, type === 'json' ? text : base64ToBytes(text))
  }

  return {
    serde,
    getTuple,
    get: async (config) => (await getTuple(config))?.checkpoint,
    async *list(config) {
      const newest = await getTuple(config)
      if (newest !== undefined) yield newest
    },
    async put({ configurable = {} }, checkpoint, metadata) {
      const { thread_id, checkpoint_ns = '', checkpoint_id } = configurable
      const [dumped, about] = await Promise.all([dump(checkpoint), dump(metadata)])
      const stored: StoredCheckpoint = {
        id: checkpoint.id,
        ...(checkpoint_id !== undefined ? { parentId: checkpoint_id } : {}),
        checkpoint: dumped,
        metadata: about,
      }
      await store.set(checkpointKey(checkpoint_ns), stored)
      const found = { checkpoint_ns, checkpoint_id: checkpoint.id }
      return { configurable: { ...found, ...(thread_id !== undefined ? { thread_id } : {}) } }
    },
    async putWrites({ configurable = {} }, writes, taskId) {
      const { checkpoint_ns = '', checkpoint_id = '' } = configurable
      const dumped = await Promise.all(writes.map(async ([channel, value]) => [channel, await dump(value)] as const))
      const before = await readWrites(checkpoint_ns, checkpoint_id)
      // Another write may have been added while this one was read.
      const now = writesOf.get(checkpoint_ns)
      const all = { ...(now?.checkpointId === checkpoint_id ? now : before).writes }
      for (const [index, [channel, value]] of dumped.entries()) {
        const at = specialIndexes[channel] ?? index
        const key = `${taskId},${at}`
        if (at < 0 || !(key in all)) all[key] = [taskId, channel, value]
      }
      const next = { checkpointId: checkpoint_id, writes: all }
      writesOf.set(checkpoint_ns, next)
      await store.set(writesKey(checkpoint_ns), next)
    },
    async deleteThread() {
      writesOf.clear()
      await Promise.all((await store.keys('langgraph/')).map((key) => store.delete(key)))
    },
    async getDeltaChannelHistory({ channels }) {
      if (channels.length === 0) return {}
      throw new Error(
        'a DeltaChannel needs the history of its thread: compile the graph with a checkpointer of LangGraph that keeps it',
      )
    },
    getNextVersion: (current) => (typeof current === 'number' ? current + 1 : 1),
    toJSON: () => '[TurnCheckpointer]',
  }
}

function checkpointKey(namespace: string): string {
  return `langgraph/checkpoint/${shortNamespace(namespace)}`
}

function writesKey(namespace: string): string {
  return `langgraph/writes/${shortNamespace(namespace)}`
}

/** Namespaces of deeply nested graphs are longer than a key may be; their ends, which are ids, tell them apart. */
function shortNamespace(namespace: string): string {
  return namespace.length <= maxNamespaceLength ? namespace : `…${namespace.slice(1 - maxNamespaceLength)}`
}

function base64ToBytes(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
