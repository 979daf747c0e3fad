/** Stores whose process can die at any moment, and what the next process finds: for tests of what a crash leaves behind. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { RecordBody } from '../model/record.ts'
import { memoryStore } from '../stores/memory.ts'
import { sqliteStore } from '../stores/sqlite/sqlite-store.ts'
import type { Append, Store } from '../stores/store.ts'
import { troubledStore } from './troubled-store.ts'

/** A store whose process can die: whatever it is asked afterwards, it does nothing. */
export interface Mortal {
  readonly store: Store
  readonly now: () => number
  /** Dies, and answers what the next process opens. */
  crash(): Promise<Mortal>
  /** Dies right after an append that holds such a record. */
  dieAfter(fits: (body: RecordBody) => boolean): void
  readonly dead: Promise<void>
}

function mortal(store: Store, now: () => number, next: () => Promise<Mortal>): Mortal {
  const death = Promise.withResolvers<void>()
  let isDead = false
  let isLast: (body: RecordBody) => boolean = () => false
  const die = (): void => {
    isDead = true
    death.resolve()
  }
  return {
    store: troubledStore(store, {
      before() {
        if (isDead) throw new Error('the process is gone')
      },
      after(method, given) {
        if (method === 'append' && (given[1] as Append).records.some(({ body }) => isLast(body))) die()
        if (isDead) throw new Error('the process is gone')
      },
    }),
    now,
    async crash() {
      die()
      return next()
    },
    dieAfter: (fits) => void (isLast = fits),
    dead: death.promise,
  }
}

export const mortalStores: Readonly<Record<string, (t: TestContext) => Mortal>> = {
  'a memory store whose leases run out': () => {
    const leaseTtlMs = 10_000
    let at = Date.now()
    const now = (): number => at
    const store = memoryStore({ leaseTtlMs, now })
    const live = (): Mortal =>
      mortal(store, now, async () => {
        at += leaseTtlMs
        return live()
      })
    return live()
  },
  'an SQLite file that is opened again': (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'engine-'))
    const opened: Store[] = []
    t.after(async () => {
      for (const store of opened) await store.close().catch(() => {})
      rmSync(folder, { recursive: true })
    })
    const live = (): Mortal => {
      const store = sqliteStore({ file: join(folder, 'tasks.db'), durability: 'normal' })
      opened.push(store)
      return mortal(store, Date.now, async () => {
        await store.close()
        return live()
      })
    }
    return live()
  },
}
