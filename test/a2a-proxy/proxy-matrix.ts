/**
 * The proxy across versions: callers of every version over every binding, a hub between, and remote agents of every version over
 * every binding. What is expected is the same in every cell, because callers must not depend on the remote side.
 */
import { after, before, describe } from 'node:test'
import { clearCardCache, connect } from '@parley/a2a/client'
import type { RemoteAgent } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import { a2aKind } from '../../packages/hub/src/agents/a2a/index.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import type { Hub } from '../../packages/hub/src/hub.ts'
import { bindings } from '../interop/client/peer.ts'
import type { Binding, Peer, PeerKind, Version } from '../interop/client/peer.ts'
import { createRemoteScript } from './remote-script.ts'
import type { RemoteScript } from './remote-script.ts'

export interface ClientKind {
  readonly version: Version
  readonly binding: Binding
}

export interface Cell {
  readonly caller: ClientKind
  readonly remote: PeerKind
  /** As the caller knows it. */
  readonly agent: RemoteAgent
  readonly peer: Peer
  readonly script: RemoteScript
}

/** Called once per cell; registers its tests. */
export type Scenarios = (cell: Cell) => void

export const versions: readonly Version[] = ['0.2', '0.3', '1.0']
export const allClients: readonly ClientKind[] = versions.flatMap((version) =>
  bindings.map((binding) => ({ version, binding })),
)

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export function proxyMatrix(
  remotes: readonly PeerKind[],
  callersOf: (remote: PeerKind) => readonly ClientKind[],
  scenarios: Scenarios,
): void {
  for (const [row, remote] of remotes.entries()) {
    describe(`the hub before ${remote.name}`, { timeout: 120_000 }, () => {
      const stage = openMatrixFixture(remote)
      for (const [column, caller] of callersOf(remote).entries()) {
        // A third of the cells contains every caller and every remote agent.
        const mark = (row + column) % 3 === 0 ? '' : ' [full]'
        describe(`for callers of ${caller.version} over ${caller.binding}${mark}`, () => {
          let agent: RemoteAgent
          before(async () => {
            agent = await stage.connect(caller)
          })
          scenarios({
            caller,
            remote,
            get agent() {
              return agent
            },
            get peer() {
              return stage.peer()
            },
            get script() {
              return stage.script()
            },
          })
        })
      }
    })
  }
}

/** A remote agent and a hub before it, until the enclosing suite ends. */
function openMatrixFixture(remote: PeerKind) {
  const overGrpc = grpc()
  let peer: Peer | undefined
  let hub: Hub | undefined
  let script: RemoteScript | undefined
  before(async () => {
    clearCardCache()
    script = createRemoteScript()
    peer = await remote.open(script.play)
    hub = await openProxyHub(peer.url, remote)
  })
  after(async () => {
    overGrpc.close()
    await hub?.close()
    await peer?.close()
  })
  return {
    peer: () => peer as Peer,
    script: () => script as RemoteScript,
    connect: ({ version, binding }: ClientKind): Promise<RemoteAgent> =>
      connect(`${hub?.url}/a2a/partner`, {
        version,
        prefer: [binding],
        bindings: [overGrpc],
        // Over gRPC only 1.0 says with each request which agent is meant, by the tenant of its interface.
        ...(version === '1.0' ? {} : { headers: { 'x-parley-agent': 'partner' } }),
        limits: { pollMs: 20, firstDelayMs: 5, timeoutMs: 10_000 },
      }),
  }
}

export async function openProxyHub(url: string, { version, binding }: PeerKind): Promise<Hub> {
  const partner = {
    kind: 'a2a',
    url,
    protocol: version,
    bindings: [binding],
    allowPrivate: true,
    pollEvery: '20ms',
  }
  const tree = {
    listen: { port: 0, grpcPort: 0 },
    store: 'memory:',
    push: { allow: ['127.0.0.1'] },
    agents: { partner },
  }
  const checked = checkConfig(tree, { kinds: [a2aKind], baseDir: import.meta.dirname })
  if (!('config' in checked)) throw new Error(JSON.stringify(checked.problems))
  return startHub(checked.config, { log: silent, kinds: [a2aKind] })
}
