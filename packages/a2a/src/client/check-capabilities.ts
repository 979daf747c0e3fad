/**
 * Rejects operations that the card does not declare (B-169): an immediate error instead of a request that cannot work.
 */
import type { AgentCard } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import type { Operation, RequestOf } from '../model/operation.ts'

export function checkCapabilities<O extends Operation>(operation: O, request: RequestOf<O>, card: AgentCard): void {
  const { streaming, pushNotifications, extendedAgentCard } = card.capabilities
  if (/Streaming|Subscribe/.test(operation)) requireCapability(streaming, 'streaming')
  if (operation === 'GetExtendedAgentCard') requireCapability(extendedAgentCard, 'extendedAgentCard')
  const push = 'configuration' in request && request.configuration?.taskPushNotificationConfig !== undefined
  if (push || operation.includes('Push')) {
    requireCapability(pushNotifications, 'pushNotifications', 'PUSH_NOTIFICATION_NOT_SUPPORTED')
  }
}

function requireCapability(
  promised: boolean | undefined,
  capability: string,
  code: 'PUSH_NOTIFICATION_NOT_SUPPORTED' | 'UNSUPPORTED_OPERATION' = 'UNSUPPORTED_OPERATION',
): void {
  if (promised !== true) throw new A2AError(code, `The agent's card does not declare ${capability}`, { capability })
}
