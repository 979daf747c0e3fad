/**
 * Every operation of our client against one kind of peer. The expectations are the same everywhere: a program that works
 * with one A2A agent works with all of them.
 */
import { describe } from 'node:test'
import { conversations } from './conversations.ts'
import { following } from './following.ts'
import type { PeerKind } from './peer.ts'
import { cardCapabilities } from './card-capabilities.ts'
import { openConnectedPeer } from './connected-peer.ts'
import { sending } from './sending.ts'

export function everyOperation(kind: PeerKind): void {
  describe(`our client and ${kind.name}`, { timeout: 120_000 }, () => {
    const scene = openConnectedPeer(kind)
    cardCapabilities(scene)
    sending(scene)
    following(scene)
    conversations(scene)
  })
}
