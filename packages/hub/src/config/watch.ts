/**
 * Says when files change. By looking at them twice a second and not by being told: files are replaced by editors, mounted
 * into containers and linked to by orchestrators, and of none of that the system tells reliably.
 */
import { statSync } from 'node:fs'

export interface Watch {
  /** From now on these, as they are now. */
  follow(files: readonly string[]): void
  close(): void
}

const usualMs = 500

/** A change is told once it has settled, and not again before `changed` has resolved. */
export function watchFiles(changed: () => Promise<void>, everyMs = usualMs): Watch {
  const seen = new Map<string, string>()
  let isSettling = false
  let isTelling = false
  const timer = setInterval(look, everyMs)

  function look(): void {
    const moved = [...seen].filter(([file, before]) => stampOf(file) !== before)
    for (const [file] of moved) seen.set(file, stampOf(file))
    // What is saved together comes together, and a file that is half written is whole at the next look.
    if (moved.length > 0) isSettling = true
    else if (isSettling && !isTelling) void tell()
  }

  async function tell(): Promise<void> {
    isSettling = false
    isTelling = true
    try {
      await changed()
    } finally {
      isTelling = false
    }
  }

  return {
    follow(files) {
      for (const file of seen.keys()) if (!files.includes(file)) seen.delete(file)
      for (const file of files) if (!seen.has(file)) seen.set(file, stampOf(file))
    },
    close: () => clearInterval(timer),
  }
}

function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? 'none' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`
}
