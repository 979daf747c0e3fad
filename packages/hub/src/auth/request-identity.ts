/**
 * Identity of a request beyond the SDK's caller: its key, its address and its grant. Kept beside the caller and not in it, so that
 * no agent and no log sees it.
 */
import type { Caller } from '@parley/a2a'
import type { Grant } from './grant.ts'
import type { KeyRecord } from './key-record.ts'
import type { QuotaCharge } from '../limits/task-quota.ts'

export interface RequestIdentity {
  /** `undefined` for tokens, certificates and anonymous callers. */
  readonly key?: KeyRecord
  /** The grant of the request, if it can end. Created on demand: most requests never need it. */
  grant?(): Grant
  /** The client address, from trusted proxies where there are any. */
  readonly address: string | undefined
  /** The quota charge of this request, and its time. */
  quotaCharge?: QuotaCharge & { readonly at: number }
}

export interface RequestIdentities {
  attach(caller: Caller, identity: RequestIdentity): Caller
  get(caller: Caller): RequestIdentity | undefined
}

export function createRequestIdentities(): RequestIdentities {
  const identities = new WeakMap<Caller, RequestIdentity>()
  return {
    attach(caller, identity) {
      // A new object for each request, so that two requests of one caller have two identities.
      const copy = { ...caller }
      identities.set(copy, identity)
      return copy
    },
    get: (caller) => identities.get(caller),
  }
}
