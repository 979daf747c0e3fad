/** Writes checkpoints of changing state, one at a time. Concurrent requests share one write. */

/** Resolves when the current state is durable. */
export function createCheckpointWriter(write: (state: unknown) => Promise<void>, state: unknown): () => Promise<void> {
  let currentWrite = Promise.resolve()
  let nextWrite: Promise<void> | undefined

  function begin(): Promise<void> {
    nextWrite = undefined
    // Copies the current state: a later call waits for the next write.
    currentWrite = write(structuredClone(state))
    return currentWrite
  }

  return () => (nextWrite ??= currentWrite.then(begin, begin))
}
