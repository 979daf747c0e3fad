/** The checks of cards, versions, requests and tasks, without streams, webhooks and credentials. */
import type { Check } from '../check.ts'
import { getTaskChecks } from './get-task.ts'

export const requestChecks: readonly Check[] = [...getTaskChecks]
