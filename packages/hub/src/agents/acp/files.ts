/** Files that an agent may read and write through the hub: text files in the folder of its session, after resolving links. */
import { mkdir, open, realpath, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, resolve, sep } from 'node:path'
import {
  type ReadTextFileRequest,
  type ReadTextFileResponse,
  type WriteTextFileRequest,
  type WriteTextFileResponse,
  RequestError,
} from '@agentclientprotocol/sdk'

export interface FileMethods {
  read(request: ReadTextFileRequest): Promise<ReadTextFileResponse>
  write(request: WriteTextFileRequest): Promise<WriteTextFileResponse>
}

/** `folderOf` returns the folder of a known session. */
export function createFileMethods(
  folderOf: (sessionId: string) => string | undefined,
  limitBytes = 10_000_000,
): FileMethods {
  return {
    async read({ sessionId, path, line, limit }) {
      const file = await resolveInside(folder(sessionId), path, realpath)
      const content = await readTextFile(file, path, limitBytes)
      const from = Math.max(0, (line ?? 1) - 1)
      const to = from + (limit ?? Infinity)
      const lines = content.split('\n')
      return { content: lines.slice(from, to).join('\n') }
    },
    async write({ sessionId, path, content }) {
      const root = folder(sessionId)
      const file = await resolveInside(root, path, resolveExisting)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, content)
      return {}
    },
  }

  function folder(sessionId: string): string {
    const found = folderOf(sessionId)
    if (found === undefined) throw RequestError.sessionNotFound(sessionId)
    return found
  }
}

/** Resolves links and rejects paths outside the root. */
async function resolveInside(root: string, path: string, real: (path: string) => Promise<string>): Promise<string> {
  if (!isAbsolute(path)) throw RequestError.invalidParams({ path }, 'the path must be absolute')
  const realRoot = await realpath(root)
  const file = await real(resolve(path)).catch(() => {
    throw RequestError.resourceNotFound(path)
  })
  if (!file.startsWith(realRoot + sep))
    throw RequestError.invalidParams({ path }, 'the path is outside the session folder')
  return file
}

/** For a file that may not exist yet, the nearest existing folder decides. */
async function resolveExisting(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const above = dirname(path)
    if (above === path) throw RequestError.resourceNotFound(path)
    return resolve(await resolveExisting(above), path.slice(above.length).replace(/^[/\\]+/, ''))
  }
}

async function readTextFile(file: string, path: string, limitBytes: number): Promise<string> {
  const handle = await open(file)
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) throw RequestError.resourceNotFound(path)
    if (stat.size > limitBytes)
      throw RequestError.invalidParams({ path }, `the file is larger than ${limitBytes} bytes`)
    return await handle.readFile('utf8')
  } finally {
    await handle.close()
  }
}
