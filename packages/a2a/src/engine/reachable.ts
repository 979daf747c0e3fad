/**
 * A store that does not answer is a trouble of ours that passes, and callers are told
 * so: what it throws becomes UNAVAILABLE, with the reason for our log alone.
 */
import { A2AError } from '../model/error.ts'
import type { Store } from '../stores/store.ts'

type Method = (...given: readonly unknown[]) => Promise<unknown>

/** A proxy, because a store may be of any make: closures, or a class of somebody else's. */
export function reachable(store: Store): Store {
  const methods = new Map<PropertyKey, Method>()
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      const known = methods.get(name)
      if (known !== undefined) return known
      const method: Method = async (...given) => {
        try {
          return await (Reflect.apply(member, target, given) as Promise<unknown>)
        } catch (cause) {
          throw new A2AError('UNAVAILABLE', 'The store does not answer', {}, { cause })
        }
      }
      methods.set(name, method)
      return method
    },
  })
}
