/** Every check, in the order in which they run: what needs least of the agent first. */
import type { Check } from '../check.ts'
import { authChecks } from './auth.ts'
import { limitChecks } from './limits.ts'
import { pushConfigChecks } from './push-configs.ts'
import { pushDeliveryChecks } from './push-delivery.ts'
import { requestChecks } from './request-checks.ts'
import { robustnessChecks } from './robustness.ts'
import { streamingChecks } from './streaming.ts'
import { streamingRuleChecks } from './streaming-rules.ts'
import { subscribeChecks } from './subscribe.ts'

export const allChecks: readonly Check[] = [
  ...requestChecks,
  ...streamingChecks,
  ...streamingRuleChecks,
  ...subscribeChecks,
  ...pushConfigChecks,
  ...pushDeliveryChecks,
  ...authChecks,
  ...robustnessChecks,
  ...limitChecks,
]
