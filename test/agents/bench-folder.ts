/** A folder that a test shares with a program: what the program leaves there is how it says where it is. */
import { existsSync, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface BenchFolder {
  readonly path: string
  /** Resolves when there is such a file. */
  appears(name: string): Promise<void>
  has(name: string): boolean
  put(name: string): void
  remove(): void
}

export function benchFolder(): BenchFolder {
  const path = mkdtempSync(join(tmpdir(), 'bench-'))
  const has = (name: string): boolean => existsSync(join(path, name))
  return {
    path,
    has,
    appears: (name) =>
      new Promise((resolve) => {
        // What never comes does not keep the process alive.
        const watcher = watch(path, { persistent: false }, look)
        look()
        function look(): void {
          if (!has(name)) return
          watcher.close()
          resolve()
        }
      }),
    put: (name) => writeFileSync(join(path, name), ''),
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}
