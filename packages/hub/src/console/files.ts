/** The files of the built console, read once: they are few and small, and each is zipped once and not for each who asks. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

export interface ServedFile {
  readonly name: string
  readonly type: string
  readonly bytes: Buffer
  /** Where it is worth it. */
  readonly zipped: Buffer | undefined
  readonly etag: string
  /** Whether what has this name never changes. */
  readonly isLasting: boolean
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** By their names below the folder; none if there is no such folder. */
export function readFiles(folder: URL): ReadonlyMap<string, ServedFile> {
  const root = fileURLToPath(folder)
  if (!existsSync(root)) return new Map()
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
  return new Map(names.filter((name) => extname(name) in types).map((name) => [name, read(root, name)]))
}

function read(root: string, name: string): ServedFile {
  const bytes = readFileSync(join(root, name))
  const zipped = gzipSync(bytes, { level: 9 })
  return {
    name,
    type: types[extname(name)] ?? 'application/octet-stream',
    bytes,
    zipped: zipped.length < bytes.length ? zipped : undefined,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    isLasting: name.startsWith('assets/'),
  }
}
