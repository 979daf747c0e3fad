/**
 * Says when files change. By looking at them twice a second and not by being told: files are replaced by editors, mounted
 * into containers and linked to by orchestrators, and of none of that the system tells reliably.
 */
import { unwatchFile, watchFile } from 'node:fs'
import type { Stats } from 'node:fs'

export interface Watch {
  /** From now on these. */
  follow(files: readonly string[]): void
  close(): void
}

const everyMs = 500
/** What is saved together comes together; a file that is half written is written by then. */
const settleMs = 100

/** A change is told once, and not again before `changed` has resolved. */
export function watchFiles(changed: () => Promise<void>): Watch {
  const watched = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isTelling = false
  let isMore = false

  function look(now: Stats, before: Stats): void {
    // Also told when a file that was not there still is not.
    if (now.mtimeMs === before.mtimeMs && now.size === before.size && now.ino === before.ino) return
    clearTimeout(timer)
    timer = setTimeout(() => void tell(), settleMs)
  }

  async function tell(): Promise<void> {
    if (isTelling) {
      isMore = true
      return
    }
    isTelling = true
    do {
      isMore = false
      await changed()
    } while (isMore)
    isTelling = false
  }

  return {
    follow(files) {
      for (const file of watched) if (!files.includes(file)) unwatchFile(file, look)
      for (const file of files) {
        if (!watched.has(file)) watchFile(file, { interval: everyMs, persistent: false }, look)
      }
      watched.clear()
      for (const file of files) watched.add(file)
    },
    close() {
      clearTimeout(timer)
      for (const file of watched) unwatchFile(file, look)
    },
  }
}
