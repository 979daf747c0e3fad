/** A folder that a test shares with a program: the program reports its progress by the files it creates there. */
import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SharedFolder {
  readonly path: string
  /** Resolves when there is such a file. */
  waitForFile(name: string): Promise<void>
  /** Its content, once it has any: a file exists before anything is written to it. */
  read(name: string): Promise<string>
  has(name: string): boolean
  createFile(name: string): void
  remove(): void
}

export function createSharedFolder(): SharedFolder {
  const path = mkdtempSync(join(tmpdir(), 'bench-'))
  const has = (name: string): boolean => existsSync(join(path, name))
  const textIn = (name: string): string => (has(name) ? readFileSync(join(path, name), 'utf8') : '')
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      // A file that never appears does not keep the process alive.
      const watcher = watch(path, { persistent: false }, look)
      look()
      function look(): void {
        if (!holds()) return
        watcher.close()
        resolve()
      }
    })
  return {
    path,
    has,
    waitForFile: (name) => until(() => has(name)),
    async read(name) {
      await until(() => textIn(name) !== '')
      return textIn(name)
    },
    createFile: (name) => writeFileSync(join(path, name), ''),
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}
