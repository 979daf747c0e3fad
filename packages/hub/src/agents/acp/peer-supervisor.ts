/**
 * Keeps one process of the agent for all conversations. It starts on first use and again after it has ended: at once if it
 * had run for a while, otherwise with growing delays, so that a program that cannot start does not keep the machine busy.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { A2AError } from '@parley/a2a'
import { abortable } from '@parley/a2a/internal'
import type { AcpPeer } from './peer.ts'

export interface AcpPeerSupervisor {
  /** Resolves to the process when it is ready. Rejects with an A2AError if it cannot start. */
  peer(signal: AbortSignal): Promise<AcpPeer>
  /** The process that is ready now. */
  readonly current: AcpPeer | undefined
  /** Whether a caller would wait, because it could not start or ended soon. */
  readonly isBackingOff: boolean
  /** Marks the process as in use until the returned function is called. */
  retain(peer: AcpPeer): () => void
  /**
   * Replaces a process that does not respond: the next caller gets a new one, and this one is stopped when its last user
   * has finished.
   */
  retire(peer: AcpPeer): void
  close(): Promise<void>
}

export interface AcpPeerSupervisorDeps {
  open(): Promise<AcpPeer>
  onFailure?(cause: unknown): void
  readonly monotonicNow: () => number
  readonly firstBackoffMs?: number
  readonly maxBackoffMs?: number
  /** A process that ran this long counts as started successfully. */
  readonly stableAfterMs?: number
}

export function createAcpPeerSupervisor(deps: AcpPeerSupervisorDeps): AcpPeerSupervisor {
  const { open, monotonicNow, firstBackoffMs = 1_000, maxBackoffMs = 60_000, stableAfterMs = 10_000 } = deps
  const closing = new AbortController()
  let starting: Promise<AcpPeer> | undefined
  let current: AcpPeer | undefined
  const useCounts = new Map<AcpPeer, number>()
  const retired = new Set<AcpPeer>()
  let failures = 0
  let nextStartAt = -Infinity

  function recordFailure(): void {
    failures += 1
    nextStartAt = monotonicNow() + Math.min(maxBackoffMs, firstBackoffMs * 2 ** (failures - 1))
  }

  async function start(): Promise<AcpPeer> {
    const wait = nextStartAt - monotonicNow()
    if (wait > 0) await sleep(wait, undefined, { signal: closing.signal })
    const peer = await open()
    if (closing.signal.aborted) {
      await peer.stop()
      throw closedError()
    }
    const since = monotonicNow()
    current = peer
    void peer.closed.then(() => {
      void peer.stop()
      if (!detach(peer)) return
      if (monotonicNow() - since >= stableAfterMs) failures = 0
      else recordFailure()
    })
    return peer
  }

  /** Returns whether this was the current process. */
  function detach(peer: AcpPeer): boolean {
    if (current !== peer) return false
    starting = undefined
    current = undefined
    return true
  }

  function stopIfUnused(peer: AcpPeer): void {
    if (!retired.has(peer) || useCounts.has(peer)) return
    retired.delete(peer)
    void peer.stop()
  }

  async function startReporting(): Promise<AcpPeer> {
    try {
      return await start()
    } catch (reason) {
      starting = undefined
      if (closing.signal.aborted) throw closedError()
      recordFailure()
      deps.onFailure?.(reason)
      throw reason
    }
  }

  return {
    async peer(signal) {
      if (closing.signal.aborted) throw closedError()
      return abortable(signal, (starting ??= startReporting()))
    },
    get current() {
      return current
    },
    get isBackingOff() {
      return nextStartAt > monotonicNow()
    },
    retain(peer) {
      useCounts.set(peer, (useCounts.get(peer) ?? 0) + 1)
      return () => {
        const left = (useCounts.get(peer) ?? 1) - 1
        if (left > 0) useCounts.set(peer, left)
        else useCounts.delete(peer)
        stopIfUnused(peer)
      }
    },
    retire(peer) {
      detach(peer)
      retired.add(peer)
      stopIfUnused(peer)
    },
    async close() {
      closing.abort()
      const last = await starting?.catch(() => undefined)
      await Promise.all([last, ...retired].map(async (peer) => peer?.stop()))
    },
  }
}

const closedError = (): A2AError => new A2AError('UNAVAILABLE', 'The agent is being closed')
