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

/** The measures that an older checkout supports: its server knows no settings, and its files may have another format. */
const comparableWorks: readonly MeasuredWork[] = [
  ...(['message', 'task', 'get', 'getMany', 'stream20', 'stream20x1', 'stream20x256', 'firstEvent'] as const),
  ...(['chunks', 'fanout', 'fanout10k', 'start'] as const),
]

async function postgresProblem(): Promise<string | undefined> {
  const database = await findDatabase()
  if ('missing' in database) return database.missing
  await database.drop()
  return undefined
}

export async function availableContestants(options: AvailabilityOptions): Promise<Plan['contestantsIn']> {
  const { isQuick, isComparison, tell } = options
  if (isComparison) return (work) => (comparableWorks.includes(work) ? ['parley', 'before'] : [])
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
