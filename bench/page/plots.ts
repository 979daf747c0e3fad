/** The plots of docs/explanation/performance.md, from the measurements. One without measurements is left out. */
import { type ContestantName, lineup } from '../contestants/lineup.ts'
import { contestantsOf, type Measure } from '../report.ts'
import { type Line, barPlot, linePlot, type PlotRole } from './svg-plot.ts'

export interface Plot {
  /** In docs/performance. */
  readonly file: string
  readonly title: string
  readonly svg: string
}

const roleOf = (name: ContestantName): PlotRole =>
  lineup[name].isOurs ? 'ours' : name.startsWith('bare') ? 'limit' : 'other'

function bars(measures: readonly Measure[], name: string, title: string): readonly Plot[] {
  const measure = measures.find((each) => each.name === name)
  if (measure === undefined) return []
  const { unit, better } = measure
  const rows = contestantsOf([measure]).map((each) => ({
    label: lineup[each].title,
    value: measure.values[each] ?? 0,
    role: roleOf(each),
  }))
  const svg = barPlot(title, `${unit}; ${better} is better`, rows)
  return [{ file: `${name}.svg`, title, svg }]
}

/** One line for each contestant over the sizes in the names of the measures: `chunks1000`, `chunks4000`, … */
function lines(measures: readonly Measure[], prefix: string, title: string, unit: string): readonly Plot[] {
  const sized = measures
    .map((measure) => ({ measure, size: Number(measure.name.slice(prefix.length)) }))
    .filter(({ measure, size }) => measure.name.startsWith(prefix) && Number.isFinite(size) && size > 0)
    .toSorted((a, b) => a.size - b.size)
  if (sized.length < 2) return []
  const drawn = contestantsOf(sized.map(({ measure }) => measure)).map((name): Line => ({
    label: lineup[name].title,
    role: roleOf(name),
    points: sized.flatMap(({ measure, size }) => {
      const value = measure.values[name]
      return value === undefined || value <= 0 ? [] : [{ x: size, y: value }]
    }),
  }))
  return [{ file: `${prefix}.svg`, title, svg: linePlot(title, unit, drawn) }]
}

export function createPlots(measures: readonly Measure[]): readonly Plot[] {
  return [
    ...bars(measures, 'task', 'SendMessage to a task of four events, 32 connections'),
    ...bars(measures, 'stream20', 'Streams of 20 chunks, 32 connections'),
    ...lines(
      measures,
      'chunks',
      'One stream, by the number of its chunks',
      'ms from the request to the end; less is better',
    ),
    ...lines(measures, 'list', 'ListTasks: a page of 50, by the number of stored tasks', 'ms; less is better'),
    ...bars(measures, 'getCold', 'GetTask of tasks that are not in memory'),
    ...bars(measures, 'lost', 'Events that clients had received and that were gone after kill -9'),
    ...bars(measures, 'fanoutIdle', 'Memory of one of 1,000 idle subscribers'),
    ...bars(measures, 'grpc', 'Events of streams over gRPC'),
    ...bars(measures, 'hop', 'A hop: the agent itself, and through the hub'),
    ...bars(measures, 'push', 'Push notifications'),
    ...bars(measures, 'start', 'Start of the process to the first answer'),
  ]
}
