/** From the start of a process to its first answer: the type stripping of our sources, which an installed package does not need, included. */
import { startContestant } from '../contestants/contestant.ts'
import type { ContestantName } from '../contestants/lineup.ts'
import { ask } from '../load/connection.ts'
import { type Measure, median } from '../report.ts'
import { question, requestText, sendMessageBody } from '../workload.ts'
import type { MeasureGroup, Plan } from './plan.ts'

async function startTime(name: ContestantName, plan: Plan): Promise<number> {
  const start = performance.now()
  const contestant = await startContestant(name, plan)
  const answer = await ask(contestant.port, requestText(contestant.port, 'message', sendMessageBody(question)))
  const elapsedMs = performance.now() - start
  await contestant.close()
  if (!answer.includes('"result"')) throw new Error(answer)
  return elapsedMs
}

async function measureStart(plan: Plan): Promise<readonly Measure[]> {
  const times = new Map<ContestantName, number[]>(plan.contestantsIn('start').map((name) => [name, []]))
  for (let round = 0; round < plan.starts; round++) {
    for (const [name, all] of times) all.push(await startTime(name, plan))
  }
  const values = Object.fromEntries([...times].map(([name, all]) => [name, median(all)]))
  return [{ name: 'start', what: 'Start of the process to the first answer', unit: 'ms', better: 'less', values }]
}

export const startGroup: MeasureGroup = { names: ['start'], measure: measureStart }
