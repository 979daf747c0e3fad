/** Who calls. Made by `authenticate` from the transport alone, never from a payload (B-150). */
export interface Caller {
  /**
   * Whose tasks these are: `issuer|subject`, or a key's principal, so that rotating a key keeps its tasks.
   * Two callers with one id are one owner.
   */
  readonly id: string
  readonly scopes?: readonly string[]
  /** The only skills that it may use, where it may not use all; each of its messages has to name one in `metadata.skillId`. */
  readonly skills?: readonly string[]
  /** The tenant that is meant by calls that name none. */
  readonly tenant?: string
  /** All that it may name, where that is more than its own. */
  readonly tenants?: readonly string[]
  /** The names of the card's security schemes that were satisfied. Absent: whoever let the caller in does not say. */
  readonly schemes?: readonly string[]
  /** Nobody proved anything. Such callers share one owner and may not list (unless on loopback). */
  readonly anonymous?: boolean
}

export const anonymous: Caller = { id: 'anonymous', anonymous: true }
