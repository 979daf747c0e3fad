/** Remote agents that are ours, 0.3 and 1.0 over each binding, for callers of each version over the same binding: 18 cells. Two thirds of them are marked `[full]` (proxy-matrix.ts). */
import { bindings } from '../interop/client/peer.ts'
import { allClients, proxyMatrix } from './proxy-matrix.ts'
import { parleyPeer } from './parley-peer.ts'
import { proxyScenarios } from './proxy-scenarios.ts'

const remotes = (['0.3', '1.0'] as const).flatMap((version) => bindings.map((binding) => parleyPeer(version, binding)))

proxyMatrix(remotes, (remote) => allClients.filter(({ binding }) => binding === remote.binding), proxyScenarios)
