/** Remote agents of 0.3, as `@a2a-js/sdk` 0.3.14 serves them: 27 cells; and of 0.2, as 0.2.5 does: 9 more. Two thirds are marked `[full]` (proxy-matrix.ts). */
import { bindings } from '../interop/client/peer.ts'
import { sdk02 } from '../interop/client/sdk-0.2-server.ts'
import { sdk03 } from '../interop/client/sdk-0.3-server.ts'
import { allClients, proxyMatrix } from './proxy-matrix.ts'
import { proxyScenarios } from './proxy-scenarios.ts'

proxyMatrix([...bindings.map((binding) => sdk03(binding)), sdk02], () => allClients, proxyScenarios)
