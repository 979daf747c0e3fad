/** Remote agents of 1.0, as `@a2a-js/sdk` 1.3.0 serves them: 27 cells. Two thirds of them are marked `[full]` (proxy-matrix.ts). */
import { bindings } from '../interop/client/peer.ts'
import { sdk1 } from '../interop/client/sdk-1-server.ts'
import { allClients, proxyMatrix } from './proxy-matrix.ts'
import { proxyScenarios } from './proxy-scenarios.ts'

proxyMatrix(
  bindings.map((binding) => sdk1('1.0', binding)),
  () => allClients,
  proxyScenarios,
)
