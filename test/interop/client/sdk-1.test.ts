/** Our client against the published server of 1.x: in its own version, and through its compatibility with 0.3. */
import { everyOperation } from './operations.ts'
import { bindings } from './peer.ts'
import { sdk1 } from './sdk-1-server.ts'

for (const version of ['1.0', '0.3'] as const) for (const binding of bindings) everyOperation(sdk1(version, binding))
