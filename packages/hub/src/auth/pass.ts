/**
 * What is known of one request's caller beside what the SDK has to know: by which key it came, and from where. Kept beside
 * the caller and not in it, so that no agent and no log sees it.
 */
import type { Caller } from '@parley/a2a'
import type { Grant } from './grant.ts'
import type { KeyRecord } from './key-record.ts'
import type { Counted } from '../limits/quota.ts'

export interface Pass {
  /** Nothing for tokens, certificates and those without a name. */
  readonly key?: KeyRecord
  /** The grant of the request, if it can end. Created on demand: most requests never need it. */
  grant?(): Grant
  /** Where the request comes from, as far as proxies are believed. */
  readonly address: string | undefined
  /** What was counted of the day's tasks for it, and when. */
  counted?: Counted & { readonly at: number }
}

export interface Passes {
  issue(caller: Caller, pass: Pass): Caller
  of(caller: Caller): Pass | undefined
}

export function createPasses(): Passes {
  const passes = new WeakMap<Caller, Pass>()
  return {
    issue(caller, pass) {
      // A new object for each request, so that two requests of one caller are two passes.
      const issued = { ...caller }
      passes.set(issued, pass)
      return issued
    },
    of: (caller) => passes.get(caller),
  }
}
