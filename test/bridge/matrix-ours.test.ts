/** Remote agents that are ours, 0.3 and 1.0 over each binding, for callers of each version over the same binding: 18 cells. */
import { bindings } from '../interop/client/peer.ts'
import { allCallers, bridgeMatrix } from './matrix.ts'
import { ourPeer } from './our-peer.ts'
import { everyScenario } from './scenarios.ts'

const remotes = (['0.3', '1.0'] as const).flatMap((version) => bindings.map((binding) => ourPeer(version, binding)))

bridgeMatrix(remotes, (remote) => allCallers.filter(({ binding }) => binding === remote.binding), everyScenario)
