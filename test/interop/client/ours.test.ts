/** Our client against our own server, in every version and over every binding. */
import { everyOperation } from './operations.ts'
import { ours } from './our-server.ts'
import { bindings } from './peer.ts'

for (const version of ['0.2', '0.3', '1.0'] as const) {
  for (const binding of bindings) everyOperation(ours(version, binding))
}
