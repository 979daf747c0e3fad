/** The files of the built console, read and compressed once: they are few and small. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

export interface ServedFile {
  readonly name: string
  readonly type: string
  readonly bytes: Buffer
  /** Set if compression pays off. */
  readonly gzipped: Buffer | undefined
  readonly etag: string
  /** Whether the content under this name never changes. */
  readonly isImmutable: boolean
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** By their names below the folder; empty if there is no such folder. */
export function readConsoleFiles(folder: URL): ReadonlyMap<string, ServedFile> {
  const root = fileURLToPath(folder)
  if (!existsSync(root)) return new Map()
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
  return new Map(
    names.filter((name) => extname(name) in contentTypes).map((name) => [name, readServedFile(root, name)]),
  )
}

function readServedFile(root: string, name: string): ServedFile {
  const bytes = readFileSync(join(root, name))
  const zipped = gzipSync(bytes, { level: 9 })
  return {
    name,
    type: contentTypes[extname(name)] ?? 'application/octet-stream',
    bytes,
    gzipped: zipped.length < bytes.length ? zipped : undefined,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
    isImmutable: name.startsWith('assets/'),
  }
}
