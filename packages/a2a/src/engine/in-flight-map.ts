/**
 * A map for short-lived entries. When a Map grows, its old table points to the new one; once the garbage collector has promoted the old
 * table, everything that later tables hold stays until a full collection. Here that is an empty slot. With a plain Map, a direct message
 * and a short task take 15 % more CPU (bench `message`, `task`).
 */
export class InFlightMap<Value extends object> {
  readonly #slots = new Map<string, { value: Value | undefined }>()

  get size(): number {
    return this.#slots.size
  }

  get(key: string): Value | undefined {
    return this.#slots.get(key)?.value
  }

  /** Setting a key again keeps its position in the order. */
  set(key: string, value: Value): void {
    const slot = this.#slots.get(key)
    if (slot === undefined) this.#slots.set(key, { value })
    else slot.value = value
  }

  delete(key: string): void {
    const slot = this.#slots.get(key)
    if (slot === undefined) return
    slot.value = undefined
    this.#slots.delete(key)
  }

  /** In insertion order. */
  *values(): IterableIterator<Value> {
    for (const { value } of this.#slots.values()) if (value !== undefined) yield value
  }
}
