/** A store with the troubles that real ones have: it is slow, it is out of reach, an answer of its gets lost. */
import type { Store } from '../stores/store.ts'

type Method = Exclude<keyof Store, 'leaseTtlMs'>

export interface Trouble {
  /** Before the store is asked. What it throws is what the caller gets, and nothing was done. */
  before?(method: Method, given: readonly unknown[]): unknown
  /** After the store has done it. What it throws is what the caller gets, and it was done all the same. */
  after?(method: Method, given: readonly unknown[]): unknown
}

export function troubledStore(store: Store, trouble: Trouble): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return async (...given: readonly unknown[]): Promise<unknown> => {
        await trouble.before?.(name as Method, given)
        const result: unknown = await (Reflect.apply(member, target, given) as Promise<unknown>)
        await trouble.after?.(name as Method, given)
        return result
      }
    },
  })
}
