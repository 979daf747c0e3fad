/** The check of every requirement. */
import type { RequirementId } from '../registry.ts'
import type { Check } from '../workbench.ts'
import { authChecks } from './auth.ts'
import { cardChecks } from './card.ts'
import { interactChecks } from './interact.ts'
import { oauthChecks } from './oauth.ts'
import { outputChecks } from './output.ts'
import { pollChecks } from './poll.ts'
import { sendChecks } from './send.ts'
import { taskChecks } from './task.ts'
import { toolChecks } from './tool.ts'
import { transportChecks } from './transport.ts'

export const checks: Readonly<Partial<Record<RequirementId, Check>>> = {
  ...cardChecks,
  ...sendChecks,
  ...taskChecks,
  ...interactChecks,
  ...pollChecks,
  ...outputChecks,
  ...authChecks,
  ...oauthChecks,
  ...transportChecks,
  ...toolChecks,
}
