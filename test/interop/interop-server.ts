/** A real server on a free port, with SQLite, for the published clients to call. The message says what its agent does. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { artifact, data, file, inputRequired, reject, reply, status } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import type { ServeOptions } from '@parley/a2a/node'

export interface InteropServer {
  readonly url: string
  /** Releases the agent that got `hold <name>`. */
  release(name: string): void
  close(): Promise<void>
}

export const mood = 'https://example.com/extensions/mood/v1'

/** The bearer scheme breaks readers that guess the version of a card by its security schemes. */
const description = {
  name: 'Actor',
  description: 'Does what the message says',
  version: '2.1.0',
  skills: [{ id: 'act', name: 'Act', description: 'Plays a part', tags: ['test'], examples: ['say hello'] }],
  securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } } },
  securityRequirements: [{ schemes: { token: { list: [] } } }],
  extensions: [{ uri: mood, description: 'How it feels' }],
} as const

export async function openInteropServer(options: Partial<ServeOptions> = {}): Promise<InteropServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-interop-'))
  const held = new Map<string, PromiseWithResolvers<void>>()
  const holdOf = (name: string): PromiseWithResolvers<void> => {
    const known = held.get(name) ?? Promise.withResolvers<void>()
    held.set(name, known)
    return known
  }

  async function* actor({ text, message, history, signal, extensions }: Turn): AsyncGenerator<Report> {
    const [verb = '', ...rest] = text.split(' ')
    const words = rest.join(' ')
    switch (verb) {
      case 'say':
        yield status('Thinking')
        for (const word of rest) yield `${word} `
        return
      case 'reply':
        yield reply(words)
        return
      case 'ask':
        yield inputRequired('Which city?')
        return
      case 'parts':
        yield data({ rows: [1, 2.5], ok: true })
        yield data(['a', null])
        yield file(new Uint8Array([1, 2, 255]), { name: 'a.bin', mediaType: 'application/x-a' })
        yield file('https://example.com/a.pdf', { name: 'a.pdf', mediaType: 'application/pdf' })
        yield artifact('mirror', { parts: message.parts, name: 'mirror', metadata: { n: 1 } })
        return
      case 'hold':
        yield 'held '
        await Promise.race([holdOf(words).promise, aborted(signal)])
        yield 'released'
        return
      case 'mood':
        yield extensions.includes(mood) ? 'happy' : 'none'
        return
      case 'reject':
        yield reject('Not my job')
        return
      case 'throw':
        throw new Error('secret')
      default:
        yield (await history()).length > 1 ? `Weather in ${text}` : `What is ${verb}?`
    }
  }

  const silent = { debug() {}, info() {}, warn() {}, error() {} }
  const given = { ...description, agent: actor, port: 0, dataDir, log: silent, drainMs: 0, ...options }
  const server = await serve(given as ServeOptions)
  return {
    url: server.url,
    release: (name) => holdOf(name).resolve(),
    async close() {
      await server.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** Reads a stream until a condition holds, and leaves the rest to the caller. */
export async function readUntil<T>(stream: AsyncIterator<T>, holds: (event: T) => boolean): Promise<T[]> {
  const seen: T[] = []
  for (;;) {
    const { done, value } = await stream.next()
    if (done === true) throw new Error(`the stream ended after ${JSON.stringify(seen)}`)
    seen.push(value)
    if (holds(value)) return seen
  }
}
