/** Every check, in the order in which they run: what needs least of the agent first. */
import type { Check } from '../check.ts'
import { requestChecks } from './request-checks.ts'

export const allChecks: readonly Check[] = [...requestChecks]
