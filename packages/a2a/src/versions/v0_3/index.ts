/** Protocol 0.3, the version of a client that names none (B-3). */
import type { ProtocolVersion } from '../version.ts'
import { json } from './json.ts'
import { proto } from './proto.ts'
import { spelling } from './spelling.ts'

export const v0_3: ProtocolVersion = {
  id: '0.3',
  spelling,
  behavior: {
    subscribeToFinished: 'replay',
    cancelAgain: 'refuse',
    missingTaskSubscription: 'event',
    showsTransitions: true,
    pushPayload: 'task',
    pushWithoutId: 'replace',
  },
  json,
  proto,
}
