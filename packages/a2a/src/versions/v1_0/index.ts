/** Protocol 1.0. One dialect serves all bindings. */
import type { ProtocolVersion } from '../version.ts'
import { json } from './json.ts'
import { spelling } from './spelling.ts'

export const v1_0: ProtocolVersion = {
  id: '1.0',
  spelling,
  behavior: {
    subscribeToFinished: 'refuse',
    cancelAgain: 'answer',
    missingTaskSubscription: 'plain',
    showsTransitions: false,
    pushPayload: 'event',
    pushWithoutId: 'add',
  },
  json,
  proto: json,
}
