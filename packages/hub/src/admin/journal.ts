/**
 * What changed beside the tasks, for those who follow: agents, the configuration, webhooks. Gathered for a moment and kept in
 * the notes for a while, so that whoever was away, or listens at another replica, hears of it, too. Notes are numbered by a
 * counter that all replicas share. A number that is taken and not yet written is waited for: what is read is never before it.
 */
import type { Notes } from '@parley/a2a'

export type Change =
  | { readonly type: 'agent'; readonly agent: string }
  | { readonly type: 'config' }
  | { readonly type: 'push'; readonly taskId: string; readonly configId: string }

export interface JournalPage {
  readonly changes: readonly Change[]
  /** To be asked for next. */
  readonly at: number
}

export interface Journal {
  record(change: Change): void
  /** Where it ends now. */
  end(): Promise<number>
  /** Whether everything since then is still there. */
  reaches(at: number): Promise<boolean>
  after(at: number): Promise<JournalPage>
  close(): Promise<void>
}

export interface JournalParts {
  readonly notes: Notes
  readonly now: () => number
  /** Something was written: whoever follows should look. */
  wake(): void
  failed(cause: unknown): void
}

const kind = 'news'
const counter = { kind: 'news-count', key: 'count' }
const everyMs = 250
const keptMs = 3_600_000
const forEverMs = 100 * 365 * 86_400_000
/** Of one note: what more there is in a moment as busy as that is not worth telling one by one. */
const mostTogether = 200
const pageSize = 200
/** Whoever took a number and did not write it by then has died over it. */
const patienceMs = 2_000

export function createJournal({ notes, now, wake, failed }: JournalParts): Journal {
  const waiting = new Map<string, Change>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> = Promise.resolve()

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const all = [...waiting.values()]
    // Webhooks alone come in crowds.
    const changes = [...all.filter(isRare), ...all.filter((change) => !isRare(change))].slice(0, mostTogether)
    waiting.clear()
    if (changes.length > 0) {
      writing = writing.then(() => write(changes)).then(wake, failed)
    }
    return writing
  }

  async function write(changes: readonly Change[]): Promise<void> {
    const number = await notes.add(counter.kind, counter.key, 1, now() + forEverMs)
    await notes.write(kind, { key: keyOf(number), value: changes, expiresAt: now() + keptMs })
  }

  async function end(): Promise<number> {
    return Number((await notes.read(counter.kind, counter.key))?.value ?? 0)
  }

  return {
    record(change) {
      waiting.set(JSON.stringify(change), change)
      timer ??= setTimeout(() => void flush(), everyMs).unref()
    },
    end,
    reaches: async (at) => (await end()) === at || (await notes.read(kind, keyOf(at + 1))) !== undefined,
    async after(at) {
      const found = await notes.list(kind, { after: keyOf(at), limit: pageSize })
      const changes: Change[] = []
      let place = at
      for (const { key, value, updatedAt } of found) {
        // Written in the future: the clock was set back since, and no writer is still filling the gap.
        if (Number(key) > place + 1 && Math.abs(now() - updatedAt) < patienceMs) break
        changes.push(...(value as unknown as readonly Change[]))
        place = Number(key)
      }
      return { changes: distinct(changes), at: place }
    },
    async close() {
      await flush()
    },
  }
}

function isRare({ type }: Change): boolean {
  return type !== 'push'
}

/** Ordered by their bytes as by their numbers. */
function keyOf(number: number): string {
  return String(number).padStart(16, '0')
}

function distinct(changes: readonly Change[]): readonly Change[] {
  return [...new Map(changes.map((change) => [JSON.stringify(change), change])).values()]
}
