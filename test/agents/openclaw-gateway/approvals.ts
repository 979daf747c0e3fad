/** Commands that the fake gateway asks about, with all four conditions of the real one. */
import { randomUUID } from 'node:crypto'
import type { Peer, Run } from './run.ts'
import type { Result } from './request.ts'
import type { Trouble } from './trouble.ts'

export interface Approvals {
  ask(run: Run, command: string, toolCallId: string): Promise<'allowed' | 'denied' | 'headless'>
  list(peer: Peer): readonly object[]
  resolve(id: string, decision: string): Result
  denyAll(runId: string): void
  /** Those that are open. */
  ids(): readonly string[]
}

interface Open {
  readonly event: { readonly id: string; readonly request: { readonly runId: string } }
  readonly deviceId: string | undefined
  readonly decided: PromiseWithResolvers<string>
  isOpen: boolean
}

export function createApprovals(trouble: Trouble, peers: () => readonly Peer[]): Approvals {
  const all = new Map<string, Open>()

  return {
    async ask({ runId, parts }, command, toolCallId) {
      const { owner, method, sessionKey } = parts
      if (!trouble.asksForApproval) return 'allowed'
      const mayAsk =
        method === 'chat.send' &&
        owner?.deviceId !== undefined &&
        owner.caps.includes('exec-approvals') &&
        owner.scopes.includes('operator.approvals')
      if (!mayAsk) return 'headless'
      const request = {
        command,
        cwd: '/home/claw/secret',
        host: 'gateway',
        sessionKey,
        runId,
        toolCallId,
        allowedDecisions: ['allow-once', 'deny'],
        unavailableDecisions: ['allow-always'],
      }
      const id = randomUUID()
      const event = { approvalKind: 'exec', id, request, createdAtMs: Date.now(), expiresAtMs: Date.now() + 1_800_000 }
      const open: Open = { event, deviceId: owner.deviceId, decided: Promise.withResolvers(), isOpen: true }
      all.set(id, open)
      for (const peer of peers().filter((one) => isFor(open, one))) peer.event('exec.approval.requested', event)
      return (await open.decided.promise) === 'deny' ? 'denied' : 'allowed'
    },
    list: (peer) => [...all.values()].filter((open) => open.isOpen && isFor(open, peer)).map(({ event }) => event),
    resolve,
    denyAll(runId) {
      for (const { event } of all.values()) if (event.request.runId === runId) resolve(event.id, 'deny')
    },
    ids: () => [...all.values()].filter(({ isOpen }) => isOpen).map(({ event }) => event.id),
  }

  function resolve(id: string, decision: string): Result {
    const open = all.get(id)
    if (open === undefined)
      return { code: 'INVALID_REQUEST', message: 'unknown approval', details: { reason: 'APPROVAL_NOT_FOUND' } }
    if (!['allow-once', 'deny'].includes(decision)) return { code: 'INVALID_REQUEST', message: 'invalid decision' }
    if (open.isOpen) {
      open.isOpen = false
      const resolved = { id, decision, resolvedBy: 'gateway-client', request: open.event.request }
      for (const peer of peers().filter((one) => isFor(open, one))) peer.event('exec.approval.resolved', resolved)
      open.decided.resolve(decision)
    }
    return { payload: { ok: true } }
  }
}

function isFor({ deviceId }: Open, peer: Peer): boolean {
  return peer.deviceId === deviceId && peer.scopes.includes('operator.approvals')
}
