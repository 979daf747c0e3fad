/**
 * Finds handles that keep a process alive and were created during the test: timers, sockets, pipes, children. The counts of
 * `process.getActiveResourcesInfo()` would not do, because older handles that close meanwhile would hide new ones.
 */
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

interface Handle {
  hasRef(): boolean
}

/**
 * Does the work, and fails with the handles it left open. It waits first, because sockets and processes take a moment to close.
 */
export async function assertNoOpenHandles(work: () => Promise<void>, timeoutMs: number): Promise<void> {
  const made = new Map<number, { readonly kind: string; readonly handle: WeakRef<Handle> }>()
  let isWatching = true
  const hook = createHook({
    init(id, kind, _trigger, resource) {
      // Requests do not keep the process alive; the handles they belong to do.
      if (isWatching && isHandle(resource) && kind !== 'Immediate') {
        made.set(id, { kind, handle: new WeakRef(resource) })
      }
    },
    // A timer that has fired would still report that it keeps the process alive.
    destroy: (id) => void made.delete(id),
  })
  const left = (): readonly string[] =>
    [...made.values()].filter(({ handle }) => handle.deref()?.hasRef() === true).map(({ kind }) => kind)
  hook.enable()
  try {
    await work()
    isWatching = false
    for (const giveUpAt = Date.now() + timeoutMs; left().length > 0;) {
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
