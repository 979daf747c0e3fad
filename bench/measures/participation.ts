/**
 * Which contestant takes part in which measure. Not every one runs everywhere: the full run must end within about half an hour, and a
 * server without a store has nothing to read after a restart.
 */
import type { ContestantName } from '../contestants/lineup.ts'

const core = ['parley', 'hub', 'a2a-js', 'bare'] as const satisfies readonly ContestantName[]
const stores = [
  'parley',
  'parley-normal',
  'parley-memory',
  'parley-postgres',
  'hub',
  'a2a-js',
  'a2a-js-sqlite',
  'a2a-js-postgres',
] as const satisfies readonly ContestantName[]

export const participation = {
  message: core,
  task: [...stores, 'bare'],
  get: [...core, 'a2a-js-sqlite'],
  getMany: ['parley', 'hub', 'a2a-js', 'a2a-js-sqlite'],
  getCold: ['parley', 'parley-postgres', 'a2a-js-sqlite', 'a2a-js-postgres'],
  stream20: [...stores, 'bare'],
  stream20x1: [...core, 'a2a-js-sqlite'],
  stream20x256: [...core, 'a2a-js-sqlite'],
  firstEvent: [...stores, 'bare'],
  chunks: [...core, 'a2a-js-sqlite'],
  fanout: core,
  fanout10k: core,
  hop: ['parley', 'hub', 'hub-memory'],
  list: ['parley', 'parley-postgres', 'a2a-js-sqlite', 'a2a-js-postgres'],
  push: ['parley', 'hub', 'a2a-js', 'a2a-js-sqlite'],
  start: core,
  crash: ['parley', 'parley-normal', 'parley-postgres', 'hub', 'a2a-js', 'a2a-js-sqlite', 'a2a-js-postgres'],
  grpc: ['parley', 'hub', 'a2a-js', 'bare-grpc'],
} as const satisfies Readonly<Record<string, readonly ContestantName[]>>

export type MeasuredWork = keyof typeof participation

/** Added with `--peers`. */
export const peerParticipation: Partial<Record<MeasuredWork, readonly ContestantName[]>> = {
  message: ['a2a-python'],
  task: ['a2a-python', 'a2a-python-sqlite'],
  get: ['a2a-python', 'a2a-python-sqlite'],
  stream20: ['a2a-python', 'a2a-python-sqlite'],
  firstEvent: ['a2a-python', 'a2a-python-sqlite'],
  start: ['a2a-python'],
  crash: ['a2a-python', 'a2a-python-sqlite'],
}

/** With `--quick` one measure of each kind of work starts all of its servers; the others start those that they are about. */
export const quickParticipation: Partial<Record<MeasuredWork, readonly ContestantName[]>> = {
  task: ['parley', 'hub', 'a2a-js-sqlite', 'parley-postgres', 'a2a-js-postgres'],
  get: ['parley'],
  getMany: [],
  getCold: ['parley', 'a2a-js-sqlite'],
  stream20: core,
  stream20x1: ['parley'],
  stream20x256: ['parley'],
  firstEvent: ['parley', 'hub'],
  chunks: core,
  fanout: ['parley', 'bare'],
  fanout10k: ['parley'],
  start: ['parley', 'hub'],
  list: ['parley', 'a2a-js-sqlite'],
  push: ['parley', 'hub'],
  crash: ['parley', 'hub', 'a2a-js'],
  grpc: ['parley', 'hub', 'bare-grpc'],
}
