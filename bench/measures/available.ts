/** Which contestants can run on this machine. One that cannot is left out of every measure, with a line that gives the reason. */
import { type ContestantName, contestantNames, lineup, needsPostgres } from '../contestants/lineup.ts'
import { type MeasuredWork, participation, quickParticipation } from './participation.ts'
import type { Plan } from './plan.ts'
import { findDatabase } from './postgres.ts'

export interface AvailabilityOptions {
  readonly isQuick: boolean
  /** Only `parley` beside `before`. */
  readonly isComparison: boolean
  tell(text: string): void
}

async function postgresProblem(): Promise<string | undefined> {
  const database = await findDatabase()
  if ('missing' in database) return database.missing
  await database.drop()
  return undefined
}

export async function availableContestants(options: AvailabilityOptions): Promise<Plan['contestantsIn']> {
  const { isQuick, isComparison, tell } = options
  if (isComparison) return (work) => (participation[work].some((name) => name === 'parley') ? ['parley', 'before'] : [])
  const problem = await postgresProblem()
  const missing = new Set<ContestantName>()
  for (const name of contestantNames.filter(needsPostgres)) {
    if (problem === undefined) continue
    missing.add(name)
    tell(`${lineup[name].title}: left out. ${problem}`)
  }
  return (work: MeasuredWork) => {
    const all = (isQuick ? quickParticipation[work] : undefined) ?? participation[work]
    return all.filter((name) => !missing.has(name))
  }
}
