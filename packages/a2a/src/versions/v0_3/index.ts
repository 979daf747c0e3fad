/** Protocol 0.3, the version of whoever names none (B-3). */
import type { ProtocolVersion } from '../version.ts'
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

/** Clients after the schema mark their messages; those after the proto do not. */
export function saysKind(body: unknown): boolean {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
  return typeof message === 'object' && message !== null && 'kind' in message
}
