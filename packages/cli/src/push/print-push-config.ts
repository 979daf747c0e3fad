/** Prints one push notification config: as the protocol writes it, or as labels. */
import { toProtoJson } from '@parley/a2a/internal'
import type { Output } from '../output/output.ts'
import { pushConfigText, type PushConfig } from './push-config-text.ts'

export function printPushConfig(output: Output, config: PushConfig): Promise<void> {
  if (output.format === 'json') return output.document(toProtoJson('TaskPushNotificationConfig', config))
  return output.text(pushConfigText(config))
}
