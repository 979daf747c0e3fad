/** Events of streams over gRPC beside `@grpc/grpc-js` alone: 32 streams at a time on 8 connections. */
import { type Contestant, startContestant } from '../contestants/contestant.ts'
import { type GrpcLoad, openGrpcLoad } from '../load/grpc-load.ts'
import { type Measure, median } from '../report.ts'
import type { MeasureGroup, Plan } from './plan.ts'

const shape = { sessions: 8, streamsPerSession: 4, chunks: 200 }

interface GrpcRunner {
  readonly contestant: Contestant
  readonly load: GrpcLoad
  readonly rates: number[]
  readonly cpuMicros: number[]
}

async function measureGrpc(plan: Plan): Promise<readonly Measure[]> {
  if (plan.contestantsIn('grpc').length === 0) return []
  const runners: GrpcRunner[] = []
  for (const name of plan.contestantsIn('grpc')) {
    const contestant = await startContestant(name, plan, { grpc: true })
    const load = openGrpcLoad({ port: contestant.grpcPort ?? 0, ...shape })
    runners.push({ contestant, load, rates: [], cpuMicros: [] })
  }
  for (let round = 0; round < plan.warmUpRounds + plan.rounds; round++) {
    for (const { contestant, load, rates, cpuMicros } of runners) {
      const before = await contestant.usage()
      const { perSecond, events } = await load.run(plan.roundMs)
      const after = await contestant.usage()
      if (round < plan.warmUpRounds) continue
      rates.push(perSecond)
      cpuMicros.push((after.cpuMicros - before.cpuMicros) / events)
    }
  }
  for (const { contestant, load } of runners) {
    load.close()
    await contestant.close()
  }
  const values = (pick: (runner: GrpcRunner) => readonly number[]): Measure['values'] =>
    Object.fromEntries(runners.map((runner) => [runner.contestant.name, median(pick(runner))]))
  const what = 'Events of streams over gRPC'
  return [
    { name: 'grpc', what, unit: 'per second', better: 'more', values: values(({ rates }) => rates) },
    { name: 'grpcCpu', what, unit: 'CPU µs each', better: 'less', values: values(({ cpuMicros }) => cpuMicros) },
  ]
}

export const grpcGroup: MeasureGroup = { names: ['grpc', 'grpcCpu'], measure: measureGrpc }
