/** Protocol 0.3, the version of whoever names none (B-3). */
import type { ProtocolVersion } from '../version.ts'
import { saysKind } from './form.ts'
import { json } from './json.ts'
import { proto } from './proto.ts'
import { spelling } from './spelling.ts'

export const v0_3: ProtocolVersion = {
  id: '0.3',
  spelling,
  habits: {
    subscribeToFinished: 'replay',
    cancelAgain: 'refuse',
    lostSubscription: 'event',
    showsTransitions: true,
    pushes: 'task',
    unnamedPush: 'replace',
  },
  json,
  proto,
  dialectOf: (body) => (saysKind(body) ? json : proto),
}
