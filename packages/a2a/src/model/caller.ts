/** The caller of an operation. `authenticate` creates it from the transport alone, never from a payload (B-150). */
export interface Caller {
  /**
   * The owner of the caller's tasks: `issuer|subject`, or the principal of a key, so that rotating a key keeps its tasks. Two
   * callers with the same id are one owner.
   */
  readonly id: string
  /**
   * The caller under whose `id` its unfinished tasks, its streams, its unsent bytes and its heavy work count, such as the creator of its
   * key: several callers then share the limits of one. Default: its own `id`.
   */
  readonly limitedAs?: string
  readonly scopes?: readonly string[]
  /** The only skills that the caller may use; absent: all. Each of its messages must name one in `metadata.skillId`. */
  readonly skills?: readonly string[]
  /** The tenant of calls that name none. */
  readonly tenant?: string
  /** All tenants that the caller may name, if it may name more than its own. */
  readonly tenants?: readonly string[]
  /** The names of the card's security schemes that the caller satisfied. Absent: the authenticator did not tell. */
  readonly schemes?: readonly string[]
  /** The caller sent no credentials. All anonymous callers share one owner and may not list tasks (except on loopback). */
  readonly anonymous?: boolean
}

/** The caller without credentials: `authenticate` returns it to allow anonymous access. */
export const anonymous: Caller = { id: 'anonymous', anonymous: true }
