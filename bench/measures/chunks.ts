/**
 * Long answers: one client, one stream of N chunks, from the request to the end. Every trial has its own
 * process, so that memory and stored bytes are those of this one answer.
 */
import { startContestant } from '../contestants/contestant.ts'
import { openConnection } from '../load/connection.ts'
import { chunkCheck, eventReader } from '../load/events.ts'
import { type Measure, median } from '../report.ts'
import { type ContestantName, keepsTasks, needsPostgres } from '../contestants/lineup.ts'
import { requestText, sendMessageBody } from '../workload.ts'
import type { MeasureGroup, Plan } from './plan.ts'

const allLengths = [1_000, 4_000, 16_000, 64_000] as const
const warmUpChunks = 100

interface Trial {
  readonly elapsedMs: number
  /** The peak of resident memory, minus the resident memory before. */
  readonly rssGrowth: number
  readonly storedBytes: number
}

interface Streamer {
  /** Requests a stream of this many chunks and reads it to its end. */
  read(chunks: number): Promise<number>
  close(): void
}

async function openStreamer(port: number): Promise<Streamer> {
  const check = chunkCheck()
  let ended: PromiseWithResolvers<void> | undefined
  const fail = (reason: Error): void => ended?.reject(reason)
  const connection = await openConnection(port, { piece: eventReader(check.event), end: () => ended?.resolve() }, fail)
  return {
    async read(chunks) {
      ended = Promise.withResolvers<void>()
      const start = performance.now()
      connection.send(requestText(port, 'stream', sendMessageBody(String(chunks), { streaming: true })))
      await ended.promise
      const elapsedMs = performance.now() - start
      check.finish(chunks)
      return elapsedMs
    },
    close: () => connection.close(),
  }
}

async function trial(name: ContestantName, chunks: number, plan: Plan): Promise<Trial> {
  const contestant = await startContestant(name, plan)
  const streamer = await openStreamer(contestant.port)
  for (let stream = 0; stream < plan.chunkWarmUps; stream++) await streamer.read(warmUpChunks)
  const before = await contestant.usage(true)
  const elapsedMs = chunks === 0 ? 0 : await streamer.read(chunks)
  const after = await contestant.usage()
  streamer.close()
  const storedBytes = await contestant.close()
  return { elapsedMs, rssGrowth: Math.max(after.rss, after.maxRss) - before.rss, storedBytes }
}

interface Summary {
  readonly elapsedMs: number
  readonly rssMb: number
  readonly storedKb: number
}

function summary(trials: readonly Trial[], emptyBytes: number): Summary {
  return {
    elapsedMs: median(trials.map((each) => each.elapsedMs)),
    rssMb: median(trials.map((each) => each.rssGrowth)) / 1e6,
    storedKb: (median(trials.map((each) => each.storedBytes)) - emptyBytes) / 1e3,
  }
}

/** Only these have a database file whose growth can be compared: that of the hub also holds traces. */
const hasFile = (name: ContestantName): boolean => keepsTasks(name) && !needsPostgres(name) && name !== 'hub'

const namesOf = (chunks: number): readonly string[] => [`chunks${chunks}`, `rss${chunks}`, `stored${chunks}`]

async function measureChunks(plan: Plan): Promise<readonly Measure[]> {
  const contestants = plan.contestantsIn('chunks')
  const isTried = (chunks: number): boolean => contestants.some((name) => plan.chunkTrials(name, chunks) > 0)
  const lengths = allLengths.filter((chunks) => plan.wants('chunks', ...namesOf(chunks)) && isTried(chunks))
  const trials = new Map<string, Trial[]>()
  const most = Math.max(...contestants.flatMap((name) => lengths.map((chunks) => plan.chunkTrials(name, chunks))))
  for (let round = 0; round < most; round++) {
    for (const chunks of lengths) {
      for (const name of contestants) {
        if (round >= plan.chunkTrials(name, chunks)) continue
        const done = await trial(name, chunks, plan)
        plan.tell(`${name}: ${chunks} chunks in ${Math.round(done.elapsedMs)} ms`)
        const key = `${name} ${chunks}`
        trials.set(key, [...(trials.get(key) ?? []), done])
      }
    }
  }
  // The size of a database before the measured answer, including the warm-up.
  const emptyBytes = new Map<ContestantName, number>()
  for (const name of contestants.filter(hasFile)) emptyBytes.set(name, (await trial(name, 0, plan)).storedBytes)

  const values = (
    chunks: number,
    pick: (each: Summary) => number,
    only?: (name: ContestantName) => boolean,
  ): Measure['values'] =>
    Object.fromEntries(
      contestants.flatMap((name) => {
        const done = trials.get(`${name} ${chunks}`)
        if (done === undefined || only?.(name) === false) return []
        return [[name, pick(summary(done, emptyBytes.get(name) ?? 0))]]
      }),
    )
  const what = (chunks: number): string => `Stream of ${chunks.toLocaleString('en')} chunks`
  return [
    ...lengths.map((chunks): Measure => ({
      name: `chunks${chunks}`,
      what: what(chunks),
      unit: 'ms',
      better: 'less',
      values: values(chunks, (each) => each.elapsedMs),
    })),
    ...lengths.map((chunks): Measure => ({
      name: `rss${chunks}`,
      what: what(chunks),
      unit: 'MB more',
      better: 'less',
      values: values(chunks, (each) => each.rssMb),
    })),
    ...lengths.map((chunks): Measure => ({
      name: `stored${chunks}`,
      what: what(chunks),
      unit: 'kB stored',
      better: 'less',
      values: values(chunks, (each) => each.storedKb, hasFile),
    })),
  ]
}

export const chunkGroup: MeasureGroup = {
  names: ['chunks', ...allLengths.flatMap(namesOf)],
  measure: measureChunks,
}
