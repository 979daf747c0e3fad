/** Every check, in the order in which they run: what needs least of the agent first. */
import type { Check } from '../check.ts'
import { getTaskChecks } from './get-task.ts'

export const allChecks: readonly Check[] = [...getTaskChecks]
