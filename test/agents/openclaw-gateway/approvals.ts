/** Commands that require approval at the fake gateway, with all four conditions of the real one. */
import { randomUUID } from 'node:crypto'
import type { GatewayPeer, Run } from './run.ts'
import type { GatewayResult } from './gateway-request.ts'
import type { GatewayFaults } from './faults.ts'

export interface Approvals {
  ask(run: Run, command: string, toolCallId: string): Promise<'allowed' | 'denied' | 'headless'>
  list(peer: GatewayPeer): readonly object[]
  resolve(id: string, decision: string): GatewayResult
  denyAll(runId: string): void
  /** Those that are open. */
  ids(): readonly string[]
}

interface PendingApproval {
  readonly event: { readonly id: string; readonly request: { readonly runId: string } }
  readonly deviceId: string | undefined
  readonly decided: PromiseWithResolvers<string>
  isOpen: boolean
}

export function createApprovals(trouble: GatewayFaults, peers: () => readonly GatewayPeer[]): Approvals {
  const all = new Map<string, PendingApproval>()

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
      const open: PendingApproval = { event, deviceId: owner.deviceId, decided: Promise.withResolvers(), isOpen: true }
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

  function resolve(id: string, decision: string): GatewayResult {
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

function isFor({ deviceId }: PendingApproval, peer: GatewayPeer): boolean {
  return peer.deviceId === deviceId && peer.scopes.includes('operator.approvals')
}
