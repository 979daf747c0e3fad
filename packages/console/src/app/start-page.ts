/** The page that `/` opens: the first steps on a new hub, the overview once they are done or were skipped. */
import type { Agent } from '../api/admin.ts'
import { useAgentList, useTaskCounts } from '../api/agents.ts'
import { firstStepsStatus } from '../pages/welcome/first-steps-status.ts'
import { readPreference, savePreference } from './preferences.ts'

const preference = 'welcome'

/** `undefined` until it is known. The page that opens shares what was loaded for it, and reports what could not be loaded. */
export function useStartPage(): 'overview' | 'welcome' | undefined {
  const [agents, counts] = [useAgentList(), useTaskCounts()]
  if (readPreference(preference, ['overview']) !== undefined) return 'overview'
  if ((agents.problem.value ?? counts.problem.value) !== undefined) return 'overview'
  if (agents.value.value === undefined || counts.value.value === undefined) return undefined
  return areFirstStepsDone(agents.value.value, counts.value.value.states) ? 'overview' : 'welcome'
}

export function areFirstStepsDone(agents: readonly Agent[], states: Readonly<Record<string, number>>): boolean {
  const tasks = Object.values(states).reduce((sum, one) => sum + one, 0)
  return firstStepsStatus({ agents, tasks }).isDone
}

/** From now on, `/` opens the overview. */
export function skipFirstSteps(): void {
  savePreference(preference, 'overview')
}
