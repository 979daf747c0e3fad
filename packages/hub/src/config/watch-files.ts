/**
 * Reports file changes. It polls twice a second instead of using file system events: editors replace files, containers mount them
 * and orchestrators link them, and the system reports none of that reliably.
 */
import { statSync } from 'node:fs'

export interface FileWatcher {
  /** Watches these files from now on, starting from their current state. */
  watch(files: readonly string[]): void
  close(): void
}

const defaultIntervalMs = 500

/** Reports a change after it has settled, and not again before `changed` has resolved. */
export function watchFiles(changed: () => Promise<void>, everyMs = defaultIntervalMs): FileWatcher {
  const seen = new Map<string, string>()
  let isSettling = false
  let isNotifying = false
  const timer = setInterval(poll, everyMs)

  function poll(): void {
    const changedFiles = [...seen].filter(([file, before]) => stampOf(file) !== before)
    for (const [file] of changedFiles) seen.set(file, stampOf(file))
    // Files saved together are reported together, and a half-written file is complete at the next poll.
    if (changedFiles.length > 0) isSettling = true
    else if (isSettling && !isNotifying) void notify()
  }

  async function notify(): Promise<void> {
    isSettling = false
    isNotifying = true
    try {
      await changed()
    } finally {
      isNotifying = false
    }
  }

  return {
    watch(files) {
      for (const file of seen.keys()) if (!files.includes(file)) seen.delete(file)
      for (const file of files) if (!seen.has(file)) seen.set(file, stampOf(file))
    },
    close: () => clearInterval(timer),
  }
}

function stampOf(file: string): string {
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    return stat === undefined ? 'none' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`
  } catch (reason) {
    // Such as a folder that may no longer be read. It must not end the hub, and the file is reported once it can be read again.
    return String((reason as NodeJS.ErrnoException).code)
  }
}
