/**
 * Keeps one program of the agent for all conversations. It is started when it is first needed, and again when it is needed
 * after it has ended: at once if it had been at work for a while, else ever later, so that one that cannot start does not
 * keep the machine busy.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { A2AError } from '@parley/a2a'
import { orAborted } from '../programs/within.ts'
import type { Peer } from './peer.ts'

export interface Keeper {
  /** The program, when it is ready. Rejects with an A2AError if it cannot be had. */
  peer(signal: AbortSignal): Promise<Peer>
  /** The one that is ready now. */
  readonly current: Peer | undefined
  /** Somebody works with it, until what this answers is called. */
  hold(peer: Peer): () => void
  /** It does not do as it is told: whoever comes next gets another, and it is stopped when nobody works with it any more. */
  retire(peer: Peer): void
  close(): Promise<void>
}

export interface KeeperParts {
  open(): Promise<Peer>
  onFailure?(cause: unknown): void
  readonly monotonicNow: () => number
  readonly firstWaitMs?: number
  readonly longestWaitMs?: number
  /** One that ran so long has not failed to start. */
  readonly soundAfterMs?: number
}

export function createKeeper(parts: KeeperParts): Keeper {
  const { open, monotonicNow, firstWaitMs = 1_000, longestWaitMs = 60_000, soundAfterMs = 10_000 } = parts
  const closing = new AbortController()
  let starting: Promise<Peer> | undefined
  let current: Peer | undefined
  const holders = new Map<Peer, number>()
  const retired = new Set<Peer>()
  let failures = 0
  let notBefore = -Infinity

  function failed(): void {
    failures += 1
    notBefore = monotonicNow() + Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1))
  }

  async function start(): Promise<Peer> {
    const wait = notBefore - monotonicNow()
    if (wait > 0) await sleep(wait, undefined, { signal: closing.signal })
    const peer = await open()
    if (closing.signal.aborted) {
      await peer.stop()
      throw goingDown()
    }
    const since = monotonicNow()
    current = peer
    void peer.closed.then(() => {
      void peer.stop()
      if (!letGo(peer)) return
      if (monotonicNow() - since >= soundAfterMs) failures = 0
      else failed()
    })
    return peer
  }

  /** Whether it was the one that whoever comes next would have got. */
  function letGo(peer: Peer): boolean {
    if (current !== peer) return false
    starting = undefined
    current = undefined
    return true
  }

  function stopUnused(peer: Peer): void {
    if (!retired.has(peer) || holders.has(peer)) return
    retired.delete(peer)
    void peer.stop()
  }

  async function begin(): Promise<Peer> {
    try {
      return await start()
    } catch (reason) {
      starting = undefined
      if (closing.signal.aborted) throw goingDown()
      failed()
      parts.onFailure?.(reason)
      throw reason
    }
  }

  return {
    async peer(signal) {
      if (closing.signal.aborted) throw goingDown()
      return orAborted((starting ??= begin()), signal)
    },
    get current() {
      return current
    },
    hold(peer) {
      holders.set(peer, (holders.get(peer) ?? 0) + 1)
      return () => {
        const left = (holders.get(peer) ?? 1) - 1
        if (left > 0) holders.set(peer, left)
        else holders.delete(peer)
        stopUnused(peer)
      }
    },
    retire(peer) {
      letGo(peer)
      retired.add(peer)
      stopUnused(peer)
    },
    async close() {
      closing.abort()
      const last = await starting?.catch(() => undefined)
      await Promise.all([last, ...retired].map(async (peer) => peer?.stop()))
    },
  }
}

const goingDown = (): A2AError => new A2AError('UNAVAILABLE', 'The agent is being closed')
