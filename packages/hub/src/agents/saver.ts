/** Checkpoints of something that goes on changing: one at a time, and those that wait are one. */

/** Resolves when what is there now is durable. */
export function createSaver(write: (state: unknown) => Promise<void>, state: unknown): () => Promise<void> {
  let underWay = Promise.resolve()
  let waiting: Promise<void> | undefined

  function begin(): Promise<void> {
    waiting = undefined
    // As it is now: the next to ask waits for the next one.
    underWay = write(structuredClone(state))
    return underWay
  }

  return () => (waiting ??= underWay.then(begin, begin))
}
