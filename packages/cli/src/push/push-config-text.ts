/** Push notification configs as text. Their secrets are for the receiver, so only their presence is shown. */
import type { ProtoMessages } from '@parley/a2a/internal'
import { redactedText } from '../output/redact.ts'
import { field } from '../output/text.ts'

export type PushConfig = ProtoMessages['TaskPushNotificationConfig']

export function pushConfigText({ taskId, id, url, token, authentication }: PushConfig): string {
  return [
    taskId === undefined ? '' : field('Task ID', taskId),
    id === undefined ? '' : field('Config ID', id),
    field('URL', url),
    token === undefined || token === '' ? '' : field('Token', redactedText),
    authentication === undefined ? '' : field('Authentication', `${authentication.scheme} ${redactedText}`),
  ].join('')
}
