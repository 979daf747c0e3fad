/**
 * The change journal: changes of agents, the configuration and webhooks. Changes are collected for a moment and stored for a while,
 * so that readers that were away or are connected to another replica get them, too. Batches are numbered by a counter that all
 * replicas share. Readers wait for a number that is taken but not yet written, so they never skip it.
 */
import type { KeyValueStore } from '@parley/a2a/stores'

export type JournalChange =
  | { readonly type: 'agent'; readonly agent: string }
  | { readonly type: 'config' }
  | { readonly type: 'push'; readonly taskId: string; readonly configId: string }

export interface JournalPage {
  readonly changes: readonly JournalChange[]
  /** The position to read from next. */
  readonly at: number
}

export interface ChangeJournal {
  record(change: JournalChange): void
  /** The current end. */
  end(): Promise<number>
  /** Whether all changes since then are still stored. */
  canResume(at: number): Promise<boolean>
  after(at: number): Promise<JournalPage>
  close(): Promise<void>
}

export interface ChangeJournalDeps {
  readonly kv: KeyValueStore
  readonly now: () => number
  /** Called after a write, to wake readers. */
  onWrite(): void
  onError(cause: unknown): void
  /** Whether a task was erased: its changes are not stored, because the caller chose the ids in them. Default: none. */
  isErased?(taskId: string): boolean
}

const kind = 'news'
const counter = { kind: 'news-count', key: 'count' }
const flushIntervalMs = 250
const retentionMs = 3_600_000
const neverExpiresMs = 100 * 365 * 86_400_000
/** Changes per batch: in such a busy moment the others are dropped. */
const maxChangesPerNote = 200
const pageSize = 200
/** A process that took a number and has not written it by then is considered dead. */
const gapTimeoutMs = 2_000

export function createChangeJournal({ kv, now, onWrite, onError, isErased }: ChangeJournalDeps): ChangeJournal {
  const waiting = new Map<string, JournalChange>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> = Promise.resolve()

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const all = [...waiting.values()].filter((change) => change.type !== 'push' || isErased?.(change.taskId) !== true)
    // Only webhooks change in large numbers.
    const changes = [...all.filter(isRare), ...all.filter((change) => !isRare(change))].slice(0, maxChangesPerNote)
    waiting.clear()
    if (changes.length > 0) {
      writing = writing.then(() => write(changes)).then(onWrite, onError)
    }
    return writing
  }

  async function write(changes: readonly JournalChange[]): Promise<void> {
    const number = await kv.add(counter.kind, counter.key, 1, now() + neverExpiresMs)
    await kv.write(kind, { key: keyOf(number), value: changes, expiresAt: now() + retentionMs })
  }

  async function end(): Promise<number> {
    return Number((await kv.read(counter.kind, counter.key))?.value ?? 0)
  }

  return {
    record(change) {
      waiting.set(JSON.stringify(change), change)
      timer ??= setTimeout(() => void flush(), flushIntervalMs).unref()
    },
    end,
    canResume: async (at) => (await end()) === at || (await kv.read(kind, keyOf(at + 1))) !== undefined,
    async after(at) {
      const found = await kv.list(kind, { after: keyOf(at), limit: pageSize })
      const changes: JournalChange[] = []
      let position = at
      for (const { key, value, updatedAt } of found) {
        // The timestamp is in the future: the clock was set back since, and no writer is still filling the gap.
        if (Number(key) > position + 1 && Math.abs(now() - updatedAt) < gapTimeoutMs) break
        changes.push(...(value as unknown as readonly JournalChange[]))
        position = Number(key)
      }
      return { changes: distinct(changes), at: position }
    },
    async close() {
      await flush()
    },
  }
}

function isRare({ type }: JournalChange): boolean {
  return type !== 'push'
}

/** Zero-padded, so that byte order is numeric order. */
function keyOf(number: number): string {
  return String(number).padStart(16, '0')
}

function distinct(changes: readonly JournalChange[]): readonly JournalChange[] {
  return [...new Map(changes.map((change) => [JSON.stringify(change), change])).values()]
}
