/** Which contestants can run on this machine. One that cannot is left out of every measure, with a line that gives the reason. */
import { type ContestantName, contestantNames, lineup, needsPostgres } from '../contestants/lineup.ts'
import { installPeers } from '../contestants/peers.ts'
import { type MeasuredWork, participation, peerParticipation, quickParticipation } from './participation.ts'
import type { Plan } from './plan.ts'
import { findDatabase } from './postgres.ts'

export interface AvailabilityOptions {
  readonly isQuick: boolean
  /** Also servers of other languages. */
  readonly withPeers: boolean
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
  const { isQuick, withPeers, isComparison, tell } = options
  if (isComparison) return (work) => (comparableWorks.includes(work) ? ['parley', 'before'] : [])
  const problem = await postgresProblem()
  const missing = new Set<ContestantName>()
  for (const name of contestantNames.filter(needsPostgres)) {
    if (problem === undefined) continue
    missing.add(name)
    tell(`${lineup[name].title}: left out. ${problem}`)
  }
  const peerProblem = withPeers ? installPeers() : undefined
  if (peerProblem !== undefined) tell(`a2a-python: left out. ${peerProblem}`)
  const hasPeers = withPeers && peerProblem === undefined
  return (work: MeasuredWork) => {
    const all = (isQuick ? quickParticipation[work] : undefined) ?? participation[work]
    return [...all, ...((hasPeers ? peerParticipation[work] : undefined) ?? [])].filter((name) => !missing.has(name))
  }
}
