/** Reads the built console. An executable replaces this file: it contains the console (scripts/executable/embedded-console-files.ts). */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** By their names below the folder; empty if there is no such folder. */
export function readConsoleFiles(folder: URL): ReadonlyMap<string, Buffer> {
  const root = fileURLToPath(folder)
  if (!existsSync(root)) return new Map()
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  return new Map(files.map((file) => [file.slice(root.length).replaceAll('\\', '/'), readFileSync(file)]))
}
