/**
 * The session of a turn. Claude Code keeps a transcript, from which any process continues: it is mirrored to the store of the turn,
 * or to the session store that the user of the adapter passes. Every run forks the session that it continues, so a turn that runs
 * again finds it unchanged, and two tasks of a conversation never share one.
 */
import type { Turn } from '../../agents/agent.ts'
import { isStruct } from '../../model/struct.ts'
import type { Json } from '../../model/task.ts'
import type { SessionKey, SessionStore, TranscriptEntry } from './sdk-messages.ts'

/** Of all keys in the store of the turn. */
const sessionPrefix = 'claude/'
/** Which session the next task of the conversation continues. */
const sessionMemoryKey = `${sessionPrefix}session`
/** Entries are written together up to this size, because the number of keys is limited. */
const chunkCharacters = 8_000

/** A session that a later run continues, and the cost of it that spans have reported. */
export interface SessionRef {
  readonly session: string
  readonly costUsd: number
}

export interface SessionTranscript {
  readonly store: SessionStore
  /** Whether everything so far is durable: without it no later run can continue. */
  readonly isDurable: boolean
}

/** `onStored` is called for the entries of the main transcript that are durable. */
export function openTranscript(
  turn: Turn,
  given: SessionStore | undefined,
  onStored: (entry: TranscriptEntry) => void,
): SessionTranscript {
  const target = given ?? turnSessionStore(turn)
  let hasEntries = false
  let isBroken = false

  async function append(key: SessionKey, entries: readonly TranscriptEntry[]): Promise<void> {
    if (isBroken) return
    try {
      await target.append(key, entries)
    } catch (error) {
      // The user's store may work again when the SDK retries. The store of the turn is full.
      if (given !== undefined || !(error instanceof RangeError)) throw error
      isBroken = true
      turn.log.warn('The transcript of Claude is too large for the task: pass a sessionStore in the options', {
        error: error.message,
      })
      return
    }
    hasEntries = true
    if (key.subpath === undefined) for (const entry of entries) onStored(entry)
  }

  const { listSubkeys } = target
  return {
    store: {
      append,
      load: (key) => target.load(key),
      ...(listSubkeys === undefined ? {} : { listSubkeys: (key) => listSubkeys.call(target, key) }),
    },
    get isDurable() {
      return hasEntries && !isBroken
    },
  }
}

/** The session of the conversation, as the newest completed task left it. */
export async function earlierSession({ store }: Turn): Promise<SessionRef | undefined> {
  return readRef((await store.get(sessionMemoryKey)) ?? (await store.earlier(sessionMemoryKey)))
}

/** `undefined`: the session is not stored, and an older one must not be continued instead. */
export async function rememberSession({ store }: Turn, ref: SessionRef | undefined): Promise<void> {
  await store.set(sessionMemoryKey, ref ?? null)
}

/** Removes the transcripts of this task that no run continues any more. Each is a whole copy. */
export async function forgetOtherSessions({ store }: Turn, kept: readonly string[]): Promise<void> {
  const keys = await store.keys(sessionPrefix)
  const others = keys.filter(
    (key) => key !== sessionMemoryKey && !kept.some((id) => key.startsWith(sessionPrefix + id)),
  )
  await Promise.all(others.map((key) => store.delete(key)))
}

function readRef(value: Json | undefined): SessionRef | undefined {
  return isStruct(value) && typeof value['session'] === 'string' ? (value as unknown as SessionRef) : undefined
}

/** Transcripts in the store of the turn: each key holds some entries as JSON text. */
function turnSessionStore({ store }: Turn): SessionStore {
  /** The number of chunks of a transcript, and the last one. */
  const tails = new Map<
    string,
    { readonly count: number; readonly last: readonly TranscriptEntry[]; readonly size: number }
  >()
  /** Writes are done one after the other: each continues the last chunk. */
  let written: Promise<unknown> = Promise.resolve()

  async function write(prefix: string, entries: readonly TranscriptEntry[]): Promise<void> {
    const tail = tails.get(prefix) ?? { count: 0, last: [], size: chunkCharacters }
    const isFull = tail.size >= chunkCharacters
    const count = isFull ? tail.count + 1 : tail.count
    const last = isFull ? entries : [...tail.last, ...entries]
    const text = JSON.stringify(last)
    await store.set(chunkKey(prefix, count), text)
    tails.set(prefix, { count, last, size: text.length })
  }

  return {
    append(key, entries) {
      const done = written.then(() => write(prefixOf(key), entries))
      // A write that failed does not stop the next one.
      written = done.catch(() => {})
      return done
    },
    async load(key) {
      const prefix = prefixOf(key)
      const own = await store.keys(prefix)
      const chunks = own.length > 0 ? await Promise.all(own.map((one) => store.get(one))) : await earlierChunks(prefix)
      const entries = chunks.flatMap((text) => JSON.parse(text as string) as TranscriptEntry[])
      return entries.length === 0 ? null : entries
    },
  }

  async function earlierChunks(prefix: string): Promise<readonly Json[]> {
    const chunks: Json[] = []
    for (;;) {
      const chunk = await store.earlier(chunkKey(prefix, chunks.length + 1))
      if (chunk === undefined) return chunks
      chunks.push(chunk)
    }
  }
}

function chunkKey(prefix: string, number: number): string {
  return `${prefix}${String(number).padStart(4, '0')}`
}

/** Not by `projectKey`, which is the folder: another replica may have another one. */
function prefixOf({ sessionId, subpath }: SessionKey): string {
  return subpath === undefined ? `${sessionPrefix}${sessionId}/` : `${sessionPrefix}${sessionId}@${subpath}/`
}
