/**
 * A store as a process has it that is killed: from one moment on nothing it asks is answered, and nothing is refused
 * either, so that neither the engine nor the agent learns of the end. What was written stays for the next process.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from '../../stores/memory.ts'
import { sqliteStore } from '../../stores/sqlite/sqlite-store.ts'
import type { Append, Store } from '../../stores/store.ts'

export interface MortalProcess {
  readonly store: Store
  /** Stops it where it stands, and answers the process that starts after it. */
  kill(): Promise<MortalProcess>
  /** The process that starts after this one has closed its store. */
  next(): MortalProcess
  /** Lets a killed one go for good: what it waits for fails. */
  bury(): void
}

export interface Graveyard {
  readonly first: MortalProcess
  dispose(): void
}

export type Lifetimes = () => Graveyard

/** Its leases are as good as run out once the process is dead. */
export const inMemory: Lifetimes = () => {
  const store = memoryStore({ leaseTtlMs: 60_000 })
  const live = (): MortalProcess => {
    const held = new Map<string, string>()
    const note = (taskId: string, { take }: Append): void => {
      if (take !== undefined) held.set(taskId, take.holder)
    }
    return mortal(store, note, live, async () => {
      for (const [taskId, holder] of held) await store.renew(holder, [taskId], Date.now())
    })
  }
  return { first: live(), dispose: () => {} }
}

/** A file that is opened again. */
export const inFile: Lifetimes = () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-contract-'))
  const live = (): MortalProcess => {
    const store = sqliteStore({ file: join(folder, 'tasks.db'), durability: 'normal' })
    return mortal(
      store,
      () => {},
      live,
      () => store.close(),
    )
  }
  return { first: live(), dispose: () => rmSync(folder, { recursive: true, force: true }) }
}

function mortal(
  store: Store,
  note: (taskId: string, append: Append) => void,
  next: () => MortalProcess,
  expire: () => Promise<unknown>,
): MortalProcess {
  let isDead = false
  const burial = Promise.withResolvers<never>()
  burial.promise.catch(() => {})
  const alive = (): Promise<never> | undefined => (isDead ? burial.promise : undefined)
  return {
    store: new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function' || name === 'masterKey') return bound(member, target)
        return async (...given: readonly unknown[]): Promise<unknown> => {
          await alive()
          if (name === 'append') note(given[0] as string, given[1] as Append)
          const result: unknown = await (Reflect.apply(member, target, given) as Promise<unknown>)
          await alive()
          return result
        }
      },
    }),
    async kill() {
      isDead = true
      await expire()
      return next()
    },
    next,
    bury() {
      isDead = true
      burial.reject(new Error('the process is gone'))
    },
  }
}

function bound(member: unknown, target: object): unknown {
  return typeof member === 'function' ? (member.bind(target) as unknown) : member
}
