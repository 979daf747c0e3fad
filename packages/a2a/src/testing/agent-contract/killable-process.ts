/**
 * The store of a process that is killed: from that moment its calls neither resolve nor reject, so that neither the engine nor
 * the agent notices the end. Data that was written stays for the next process.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import type { Append, Store } from '../../stores/store.ts'

export interface KillableProcess {
  readonly store: Store
  /** Stops the process at once, and returns the process that starts after it. */
  kill(): Promise<KillableProcess>
  /** The process that starts after this one has closed its store. */
  next(): KillableProcess
  /** Releases a killed process for good: its pending calls fail. */
  discard(): void
}

export interface ProcessSequence {
  readonly first: KillableProcess
  dispose(): void
}

export type ProcessLifetimes = () => ProcessSequence

/** Its leases count as expired once the process is dead. */
export const inMemory: ProcessLifetimes = () => {
  const store = memoryStore({ leaseTtlMs: 60_000 })
  const live = (): KillableProcess => {
    const held = new Map<string, string>()
    const note = (taskId: string, { take }: Append): void => {
      if (take !== undefined) held.set(taskId, take.holder)
    }
    return createKillableProcess(store, note, live, async () => {
      for (const [taskId, holder] of held) await store.tasks.renew(holder, [taskId], Date.now())
    })
  }
  return { first: live(), dispose: () => {} }
}

/** A file that is opened again. */
export const inFile: ProcessLifetimes = () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-contract-'))
  const live = (): KillableProcess => {
    const store = sqliteStore({ file: join(folder, 'tasks.db'), durability: 'normal' })
    return createKillableProcess(
      store,
      () => {},
      live,
      () => store.close(),
    )
  }
  return { first: live(), dispose: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Members of a store that return no promise. */
const synchronousMembers: ReadonlySet<string | symbol> = new Set(['masterKey', 'otherMasterKeys'])

function createKillableProcess(
  store: Store,
  note: (taskId: string, append: Append) => void,
  next: () => KillableProcess,
  expire: () => Promise<unknown>,
): KillableProcess {
  let isDead = false
  const discarded = Promise.withResolvers<never>()
  discarded.promise.catch(() => {})
  const alive = (): Promise<never> | undefined => (isDead ? discarded.promise : undefined)
  /** Of the store, or of one of its facets. */
  const killable = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member === 'object' && member !== null) return killable(member)
        if (typeof member !== 'function' || synchronousMembers.has(name)) return bound(member, target)
        return async (...given: readonly unknown[]): Promise<unknown> => {
          await alive()
          if (name === 'append') note(given[0] as string, given[1] as Append)
          const result: unknown = await (Reflect.apply(member, target, given) as Promise<unknown>)
          await alive()
          return result
        }
      },
    })
  return {
    store: killable(store),
    async kill() {
      isDead = true
      await expire()
      return next()
    },
    next,
    discard() {
      isDead = true
      discarded.reject(new Error('the process is gone'))
    },
  }
}

function bound(member: unknown, target: object): unknown {
  return typeof member === 'function' ? (member.bind(target) as unknown) : member
}
