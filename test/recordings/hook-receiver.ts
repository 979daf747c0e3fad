/** Receives the notifications of all conversations, each at a path of its own. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HookReceiver {
  readonly port: number
  /** Resolves to the notifications at this path whose body matches, once there are `count`. */
  received(path: string, matching: RegExp, count: number): Promise<readonly (readonly string[])[]>
  close(): void
}

/** They belong to the connection. */
const omittedHeaders = new Set(['connection', 'content-length', 'transfer-encoding', 'keep-alive', 'host'])

export async function openHookReceiver(): Promise<HookReceiver> {
  const byPath = new Map<string, string[][]>()
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      const path = request.url ?? ''
      const headers = Object.entries(request.headers)
        .filter(([name]) => !omittedHeaders.has(name))
        .map(([name, value]) => `${name}: ${String(value)}`)
      const known = byPath.get(path) ?? []
      byPath.set(path, known)
      known.push([`${request.method} ${path}`, ...headers.toSorted(), body])
      // The first delivery to such a path has to be repeated.
      response.writeHead(path.startsWith('/failing-') && known.length === 1 ? 503 : 204).end()
      for (const check of waiting) check()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    received(path, matching, count) {
      const { promise, resolve } = Promise.withResolvers<readonly (readonly string[])[]>()
      const check = (): void => {
        const matched = (byPath.get(path) ?? []).filter((lines) => matching.test(lines.at(-1) ?? ''))
        if (matched.length >= count) resolve(matched)
      }
      waiting.add(check)
      check()
      return promise.finally(() => waiting.delete(check))
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
