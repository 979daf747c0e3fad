/** A store with the troubles that real ones have: it is slow, it is out of reach, an answer of its gets lost. */
import type { Notes } from '../stores/notes.ts'
import type { Store } from '../stores/store.ts'

export type StoreMethod = Exclude<keyof Store, 'leaseTtlMs' | 'notes'> | `notes.${keyof Notes}`

export interface Trouble {
  /** Before the store is asked. What it throws is what the caller gets, and nothing was done. */
  before?(method: StoreMethod, given: readonly unknown[]): unknown
  /** After the store has done it. What it throws is what the caller gets, and it was done all the same. */
  after?(method: StoreMethod, given: readonly unknown[]): unknown
}

export function troubledStore(store: Store, trouble: Trouble): Store {
  const notes = troubled(store.notes, (name) => `notes.${name}` as StoreMethod, trouble)
  return new Proxy(
    troubled(store, (name) => name as StoreMethod, trouble),
    {
      get: (target, name) => (name === 'notes' ? notes : (Reflect.get(target, name) as unknown)),
    },
  )
}

function troubled<Subject extends object>(
  subject: Subject,
  methodOf: (name: string) => StoreMethod,
  trouble: Trouble,
): Subject {
  return new Proxy(subject, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      const method = methodOf(String(name))
      return async (...given: readonly unknown[]): Promise<unknown> => {
        await trouble.before?.(method, given)
        const result: unknown = await (Reflect.apply(member, target, given) as Promise<unknown>)
        await trouble.after?.(method, given)
        return result
      }
    },
  })
}
