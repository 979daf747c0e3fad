/** The page that `/` opens: the first steps on a new hub, the overview once they are done or were skipped. */
import type { Agent } from '../api/admin.ts'
import { callAdmin } from '../api/admin-client.ts'
import { firstStepsStatus } from '../pages/welcome/first-steps-status.ts'
import { readPreference, savePreference } from './preferences.ts'

const preference = 'welcome'

export async function findStartPage(): Promise<'/overview' | '/welcome'> {
  if (readPreference(preference, ['overview']) !== undefined) return '/overview'
  try {
    const [{ agents }, { states }] = await Promise.all([callAdmin('listAgents'), callAdmin('countTasks')])
    return areFirstStepsDone(agents, states) ? '/overview' : '/welcome'
  } catch {
    // The page itself reports the problem.
    return '/overview'
  }
}

export function areFirstStepsDone(agents: readonly Agent[], states: Readonly<Record<string, number>>): boolean {
  const tasks = Object.values(states).reduce((sum, one) => sum + one, 0)
  return firstStepsStatus({ agents, tasks }).isDone
}

/** From now on, `/` opens the overview. */
export function skipFirstSteps(): void {
  savePreference(preference, 'overview')
}
