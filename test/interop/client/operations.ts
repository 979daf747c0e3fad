/**
 * Every operation of our client against one kind of peer. What is expected is the same everywhere: a program that talks
 * to one A2A agent talks to all of them.
 */
import { describe } from 'node:test'
import { conversing } from './conversing.ts'
import { following } from './following.ts'
import type { PeerKind } from './peer.ts'
import { promises } from './promises.ts'
import { openScene } from './scene.ts'
import { sending } from './sending.ts'

export function everyOperation(kind: PeerKind): void {
  describe(`our client and ${kind.name}`, { timeout: 20_000 }, () => {
    const scene = openScene(kind)
    promises(scene)
    sending(scene)
    following(scene)
    conversing(scene)
  })
}
