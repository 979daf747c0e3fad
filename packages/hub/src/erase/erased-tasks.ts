/**
 * Tasks that this process has erased lately. A delivery to a webhook may end after its task was erased, and must not be written
 * down again.
 */
export interface ErasedTasks {
  add(taskIds: readonly string[]): void
  has(taskId: string): boolean
}

/** More than one process has in flight. The oldest are forgotten first. */
const maxRemembered = 20_000

export function createErasedTasks(): ErasedTasks {
  const ids = new Set<string>()
  return {
    add(taskIds) {
      for (const id of taskIds) ids.add(id)
      for (const id of ids) {
        if (ids.size <= maxRemembered) return
        ids.delete(id)
      }
    },
    has: (id) => ids.has(id),
  }
}
