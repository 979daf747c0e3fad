/** Protocol 1.0. One dialect serves all bindings. */
import type { VersionDefinition } from '../version.ts'
import { shape } from '../shape.ts'
import { canonicalDialect } from './json.ts'
import { taskFields } from './objects.ts'
import { spelling } from './spelling.ts'

const json = canonicalDialect('1.0', shape(taskFields))

export const v1_0: VersionDefinition<'1.0'> = {
  id: '1.0',
  spelling,
  behavior: {
    subscribeToFinished: 'refuse',
    cancelAgain: 'answer',
    missingTaskSubscription: 'plain',
    hasTenants: true,
    showsTransitions: false,
    pushPayload: 'event',
    pushWithoutId: 'add',
  },
  json,
  proto: json,
}
