/** Our client against the published servers of 0.3 and 0.2. */
import { everyOperation } from './operations.ts'
import { bindings } from './peer.ts'
import { sdk02 } from './sdk-0.2-server.ts'
import { sdk03 } from './sdk-0.3-server.ts'

for (const binding of bindings) everyOperation(sdk03(binding))
everyOperation(sdk02)
