/** Protocol 0.3, the version of a client that names none (B-3). */
import type { VersionDefinition } from '../version.ts'
import { legacyDialect } from './dialect.ts'
import { spelling } from './spelling.ts'

export const v0_3: VersionDefinition<'0.3'> = {
  id: '0.3',
  spelling,
  behavior: {
    subscribeToFinished: 'replay',
    cancelAgain: 'refuse',
    missingTaskSubscription: 'event',
    hasTenants: false,
    showsTransitions: true,
    pushPayload: 'task',
    pushWithoutId: 'replace',
  },
  json: legacyDialect('0.3/json', { protocolVersion: '0.3.0', form: 'json' }),
  proto: legacyDialect('0.3/proto', { protocolVersion: '0.3.0', form: 'proto' }),
}
