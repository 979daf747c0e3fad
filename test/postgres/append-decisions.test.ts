/** The database decides appends on its own. For any sequence of requests it has the same results as the memory store. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { memoryStore } from '@parley/a2a'
import type { Append, AppendResult, Store } from '@parley/a2a/stores'
import {
  alicePartition,
  chunks,
  day0,
  newTaskFields,
  noteRecords,
  taskStatusOf,
} from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { openDatabase, skipReason } from './databases.ts'

/** One append, or the passing of time, independent of the store: fences differ between stores, so they are named by position. */
interface Move {
  readonly task: number
  readonly expected: 'head' | 'zero' | 'off' | 'behind'
  readonly orLater: boolean
  readonly fence: 'none' | 'last' | 'older'
  readonly take: 'none' | 'one' | 'two'
  readonly ttlMs: number
  readonly release: boolean
  readonly records: 'none' | 'visible' | 'internal' | 'both'
  readonly create: boolean
  readonly state: 'none' | 'TASK_STATE_WORKING' | 'TASK_STATE_INPUT_REQUIRED' | 'TASK_STATE_COMPLETED'
  readonly due: 'none' | 'set' | 'clear'
  readonly consumed: boolean
  readonly key: number | undefined
  readonly passMs: number
  /** How far the record times are behind the clock. */
  readonly behindMs: number
}

const move: fc.Arbitrary<Move> = fc.record({
  task: fc.nat(2),
  expected: fc.oneof(
    { weight: 8, arbitrary: fc.constant('head' as const) },
    fc.constantFrom('zero' as const, 'off' as const, 'behind' as const),
  ),
  orLater: fc.boolean(),
  fence: fc.constantFrom('none', 'none', 'last', 'last', 'older'),
  take: fc.constantFrom('none', 'none', 'one', 'two'),
  ttlMs: fc.constantFrom(10, 100, Infinity),
  release: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
  records: fc.constantFrom('none', 'visible', 'internal', 'both'),
  create: fc.boolean(),
  state: fc.constantFrom(
    'none',
    'none',
    'none',
    'TASK_STATE_WORKING',
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_COMPLETED',
  ),
  due: fc.constantFrom('none', 'none', 'set', 'clear'),
  consumed: fc.boolean(),
  key: fc.option(fc.nat(3), { nil: undefined, freq: 2 }),
  passMs: fc.constantFrom(0, 0, 0, 20, 200),
  behindMs: fc.constantFrom(0, 0, 10, 100),
})

let runs = 0

/** Applies the moves to a store and returns the result of each. */
async function play(
  store: Store,
  moves: readonly Move[],
  clock: { at: number },
  run: string,
): Promise<readonly unknown[]> {
  const history: unknown[] = []
  const heads = [0, 0, 0]
  const fences: number[][] = [[], [], []]
  clock.at = day0
  for (const { task, ...step } of moves) {
    clock.at += step.passMs
    const id = `${run} ${task}`
    const known = fences[task]!
    const answer = await store.tasks.append(id, appendOf(step, id, run, heads[task]!, known, clock.at))
    if (answer.outcome === 'appended') heads[task] = answer.head
    if (answer.outcome === 'appended' && answer.fence !== undefined && answer.fence !== known.at(-1))
      known.push(answer.fence)
    history.push(withoutFence(answer), await store.tasks.load(id), await store.tasks.read(id, 0))
  }
  const page = await store.tasks.list({ ...alicePartition, owner: run, limit: 10 })
  for (const { id, records } of page.tasks)
    if (records !== undefined) assert.deepEqual(records, await store.tasks.read(id, 0))
  history.push(
    // A store may omit the records.
    { ...page, tasks: page.tasks.map(({ records: _, ...row }) => row) },
    await store.tasks.countActive(alicePartition.tenant, run),
  )
  const due = await store.tasks.claimDue(day0 + 10_000_000, 1_000)
  history.push(due.filter(({ task }) => task.owner === run).map(({ task, due }) => [task.id, due]))
  const orphans = await store.tasks.claimOrphans('heir', clock.at + 150, 60_000, 1_000)
  history.push(
    orphans
      .filter(({ task }) => task.owner === run)
      .map(({ task }) => task.id)
      .sort(),
  )
  return history
}

function appendOf(
  step: Omit<Move, 'task'>,
  id: string,
  run: string,
  head: number,
  fences: number[],
  at: number,
): Append {
  const expectedSeq = { head, zero: 0, off: head + 3, behind: Math.max(0, head - 1) }[step.expected]
  const fence = { none: undefined, last: fences.at(-1), older: fences.at(-2) }[step.fence]
  const records = {
    none: [],
    visible: chunks('a', 'b'),
    internal: noteRecords('c'),
    both: [...chunks('d'), ...noteRecords('e')],
  }
  const status = step.state === 'none' ? undefined : taskStatusOf(step.state, at)
  const due = { none: undefined, set: { kind: 'turn', at: at + 1_000 } as const, clear: null }[step.due]
  return {
    expectedSeq,
    records: records[step.records].map(({ body }, index) => ({ at: at - step.behindMs - (index % 2), body })),
    ...(step.orLater && { orLater: true }),
    ...(fence !== undefined && { fence }),
    ...(step.take !== 'none' && { take: { holder: step.take, ttlMs: step.ttlMs } }),
    ...(step.release && { release: true }),
    ...(step.create && { create: newTaskFields({ id, owner: run, createdAt: at, statusAt: at }) }),
    ...(step.key !== undefined && { idempotency: { key: `${run} ${step.key}`, hash: `h${at}`, ttlMs: 100 } }),
    change: {
      ...(status && { status, statusAt: at }),
      ...(due !== undefined && { due }),
      ...(step.consumed && { consumedSeq: head }),
    },
  }
}

function withoutFence(answer: AppendResult): unknown {
  return 'fence' in answer ? { ...answer, fence: answer.fence !== undefined } : answer
}

const skip = await skipReason()
describe('an append that the database decides', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  it(
    'has the same outcome, and leaves the same task, as in the memory store [full]',
    { timeout: 120_000 },
    async () => {
      const clock = { at: day0 }
      const now = (): number => clock.at
      const postgres = database.open({ now })
      await fc.assert(
        fc.asyncProperty(fc.array(move, { minLength: 3, maxLength: 25 }), async (moves) => {
          const run = `run ${(runs += 1)}`
          const expected = await play(memoryStore({ now, leaseTtlMs: 10_000 }), moves, clock, run)
          assert.deepEqual(await play(postgres, moves, clock, run), expected)
        }),
        { numRuns: process.env['PARLEY_FULL'] === '1' ? 2_000 : 60 },
      )
    },
  )
})
