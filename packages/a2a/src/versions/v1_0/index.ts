/** Protocol 1.0. Its two dialects are one. */
import type { ProtocolVersion } from '../version.ts'
import { json } from './json.ts'
import { spelling } from './spelling.ts'

export const v1_0: ProtocolVersion = {
  id: '1.0',
  spelling,
  habits: {
    subscribeToFinished: 'refuse',
    cancelAgain: 'answer',
    lostSubscription: 'plain',
    showsTransitions: false,
    pushes: 'event',
    unnamedPush: 'add',
  },
  json,
  proto: json,
}
