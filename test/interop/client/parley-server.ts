/** Our own server, called like any other. */
import { artifact, fail, inputRequired, memoryStore, reject, reply, status } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { agentName, extendedDescription, mood, optionsPreferring } from './peer.ts'
import type { Binding, Peer, PeerKind, Version } from './peer.ts'
import { createNamedGates } from './agent-script.ts'
import type { NamedGates } from './agent-script.ts'

const token = 'let-me-in'

export const parleyServer = (version: Version, binding: Binding): PeerKind => ({
  name: `our server, ${version} over ${binding}`,
  version,
  binding,
  absent: version === '1.0' ? '0.3' : '1.0',
  options: { ...optionsPreferring(binding), bearer: token },
  missingCapabilities: version === '1.0' ? [] : ['list'],
  open: () => openParleyServer([version]),
})

export async function openParleyServer(versions: readonly Version[]): Promise<Peer> {
  const holds = createNamedGates()
  const silent = { debug() {}, info() {}, warn() {}, error() {} }
  const server = await serve({
    name: agentName,
    description: 'Does what the message says',
    version: '2.1.0',
    skills: [{ id: 'act', name: 'Act', description: 'Plays a part', tags: ['test'] }],
    securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    securityRequirements: [{ schemes: { token: { list: [] } } }],
    extensions: [{ uri: mood }],
    extendedCard: { description: extendedDescription },
    authenticate: ({ header }) => (header('authorization') === `Bearer ${token}` ? { id: 'tester' } : undefined),
    versions,
    agent: actor(holds),
    store: memoryStore(),
    push: { allow: ['127.0.0.1'] },
    port: 0,
    grpcPort: 0,
    drainMs: 0,
    log: silent,
  })
  return { url: server.url, release: holds.release, close: () => server.close() }
}

function actor(holds: NamedGates) {
  return async function* ({ text, message, task, signal, history }: Turn): AsyncGenerator<Report> {
    const [verb = '', ...words] = text.split(' ')
    if (verb === 'reply') return yield reply(words.join(' '))
    if (task.state !== undefined && (await history()).length > 1) return yield `Weather in ${text}`
    switch (verb) {
      case 'say':
        yield status('Thinking')
        for (const word of words) yield `${word} `
        return
      case 'hold':
        yield status('Holding')
        yield 'held '
        await Promise.race([holds.until(words.join(' ')), aborted(signal)])
        return yield 'released'
      case 'ask':
        return yield inputRequired('Which city?')
      case 'parts':
        yield artifact('shown', { parts: shown })
        return yield artifact('mirror', { parts: message.parts })
      case 'fail':
        return yield fail('Upstream is down')
      case 'reject':
        return yield reject('Not my job')
      default:
        return yield status(`What is ${verb}?`)
    }
  }
}

const shown = [
  { data: { rows: [1, 2.5], ok: true } },
  { raw: 'AQL/', filename: 'a.bin', mediaType: 'application/x-a' },
] as const

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
