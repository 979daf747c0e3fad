/**
 * Refuses messages before they open a task: those that the gateway would not accept, and all while it is known that it cannot be
 * reached. The check itself sends nothing; what is known comes from the attempts to connect.
 */
import { A2AError, type Message } from '@parley/a2a'
import type { AgentServices } from '../kind.ts'
import type { OpenClawEntry } from './entry.ts'
import type { Gateway } from './gateway/gateway.ts'
import { checkHttpEndpoint } from './http-endpoint.ts'
import { httpLimits } from './http-run.ts'
import { checkOpenClawMessage } from './prompt.ts'

/** Time limit of a check of the HTTP endpoint. */
export const httpCheckMs = 5_000

export interface MessageCheck {
  check(message: Message): void
  close(): void
}

export function createMessageCheck(
  entry: OpenClawEntry,
  gateway: Gateway | undefined,
  fetch: AgentServices['fetch'],
): MessageCheck {
  /** Whether the HTTP endpoint answered after the last failure. */
  let isHttpDown = false
  const stop = gateway?.onFailure((reason) => {
    if (!canUseHttp(entry, reason)) return
    checkHttpEndpoint(entry, fetch, AbortSignal.timeout(httpCheckMs)).then(
      () => (isHttpDown = false),
      () => (isHttpDown = true),
    )
  })

  return {
    check(message) {
      const failure = gateway?.failure()
      const isUnreachable = failure !== undefined && (isHttpDown || !canUseHttp(entry, failure))
      if (isUnreachable) throw failure
      const limits = gateway === undefined || failure !== undefined ? httpLimits : gateway.limits()
      if (limits !== undefined) checkOpenClawMessage(message, limits)
    },
    close: () => stop?.(),
  }
}

/** Whether messages may go by HTTP after the WebSocket failed for this reason. */
function canUseHttp(entry: OpenClawEntry, reason: A2AError): boolean {
  if (entry.transport === 'split') return entry.approvals === 'none'
  return entry.transport === 'auto' && canFallBack(entry, reason)
}

/** HTTP may work if the gateway was not reached or did not understand. A refusal applies to every transport. */
export function canFallBack({ approvals }: OpenClawEntry, reason: unknown): boolean {
  if (approvals === 'caller' || !(reason instanceof A2AError)) return false
  return ['UNREACHABLE', 'PROTOCOL'].includes(reason.details.cause ?? '')
}
