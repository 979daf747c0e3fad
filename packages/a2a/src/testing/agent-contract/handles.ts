/**
 * What keeps a process alive and was made while somebody watched: timers, sockets, pipes, children. The counts that
 * `process.getActiveResourcesInfo()` gives would not do, because what others made before goes meanwhile and hides it.
 */
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

interface Handle {
  hasRef(): boolean
}

/** Does the work, and fails with what it left open: sockets and processes take a moment to go, so not at once. */
export async function leavingNothingOpen(work: () => Promise<void>, patienceMs: number): Promise<void> {
  const made = new Map<number, { readonly kind: string; readonly handle: WeakRef<Handle> }>()
  let isWatching = true
  const hook = createHook({
    init(id, kind, _trigger, resource) {
      // Requests have no say in whether the process lives on; what they belong to has.
      if (isWatching && isHandle(resource) && kind !== 'Immediate') {
        made.set(id, { kind, handle: new WeakRef(resource) })
      }
    },
    // A timer that has come would still say that it holds the process.
    destroy: (id) => void made.delete(id),
  })
  const left = (): readonly string[] =>
    [...made.values()].filter(({ handle }) => handle.deref()?.hasRef() === true).map(({ kind }) => kind)
  hook.enable()
  try {
    await work()
    isWatching = false
    for (const giveUpAt = Date.now() + patienceMs; left().length > 0;) {
      if (Date.now() > giveUpAt) assert.fail(`still open: ${left().join(', ')}`)
      await sleep(10)
    }
  } finally {
    hook.disable()
  }
}

function isHandle(resource: object): resource is Handle {
  return typeof (resource as Partial<Handle>).hasRef === 'function'
}
