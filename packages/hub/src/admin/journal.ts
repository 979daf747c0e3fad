/**
 * What changed beside the tasks, for those who follow: agents, the configuration, webhooks. Gathered for a moment and kept in
 * the notes for a while, so that whoever was away, or listens at another replica, hears of it, too. Each note has the number
 * after that of the one before, and is made only if nobody else has made that one: so none comes to be before one that was read.
 */
import type { Json, Notes } from '@parley/a2a'

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
const everyMs = 250
const keptMs = 3_600_000
/** Of one note: what more there is in a moment as busy as that is not worth telling one by one. */
const mostTogether = 200
const pageSize = 200
const mostTries = 20

export function createJournal({ notes, now, wake, failed }: JournalParts): Journal {
  const waiting = new Map<string, Change>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let writing: Promise<void> = Promise.resolve()

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const changes = [...waiting.values()].slice(0, mostTogether)
    waiting.clear()
    if (changes.length > 0) {
      writing = writing.then(() => write(changes)).then(wake, failed)
    }
    return writing
  }

  async function last(): Promise<number | undefined> {
    const [note] = await notes.list(kind, { descending: true, limit: 1 })
    return note === undefined ? undefined : Number(note.key)
  }

  /** Where all have gone, it begins at a number that none of them had. */
  async function write(changes: readonly Change[]): Promise<void> {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const key = keyOf(((await last()) ?? now()) + 1)
      const note = { key, value: changes as unknown as Json, expiresAt: now() + keptMs }
      if ((await notes.write(kind, note, 0)) !== undefined) return
    }
    throw new Error('others were always faster')
  }

  return {
    record(change) {
      waiting.set(JSON.stringify(change), change)
      timer ??= setTimeout(() => void flush(), everyMs).unref()
    },
    end: async () => (await last()) ?? now(),
    reaches: async (at) => (await notes.read(kind, keyOf(at))) !== undefined || (await last()) === undefined,
    async after(at) {
      const found = await notes.list(kind, { after: keyOf(at), limit: pageSize })
      const newest = found.at(-1)
      const changes = found.flatMap(({ value }) => value as unknown as readonly Change[])
      return { changes: distinct(changes), at: newest === undefined ? at : Number(newest.key) }
    },
    async close() {
      await flush()
    },
  }
}

/** Ordered by their bytes as by their numbers. */
function keyOf(number: number): string {
  return String(number).padStart(16, '0')
}

function distinct(changes: readonly Change[]): readonly Change[] {
  return [...new Map(changes.map((change) => [JSON.stringify(change), change])).values()]
}
