/**
 * Random combinations of messages, cancels and agents of all kinds, on one engine or on two over
 * one store, which is slow, fails and loses responses; the clocks of the two differ. Afterwards every log must be consistent,
 * and no task may be left unfinished. A seed decides the actions and their order: time is simulated.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Agent, Turn } from '../../packages/a2a/src/agents/agent.ts'
import { authRequired, fail, inputRequired, reject, reply, status } from '../../packages/a2a/src/agents/reports.ts'
import type { LogRecord } from '../../packages/a2a/src/model/record.ts'
import { isVisible } from '../../packages/a2a/src/model/record.ts'
import { isInterrupted, isTerminal } from '../../packages/a2a/src/model/state.ts'
import { memoryStore } from '../../packages/a2a/src/stores/memory/memory-store.ts'
import { dueAgainMs } from '../../packages/a2a/src/stores/task-store.ts'
import type { FullStore, TaskRow } from '../../packages/a2a/src/stores/store.ts'
import type { TestEngine } from '../../packages/a2a/src/testing/fixtures/test-engine.ts'
import { openTestEngine } from '../../packages/a2a/src/testing/fixtures/test-engine.ts'
import { faultyStore } from '../../packages/a2a/src/testing/fixtures/faulty-store.ts'
import { emptyFold, foldRecord, taskView } from '../../packages/a2a/src/engine/task/fold.ts'
import { simulatedSigner } from './simulated-signer.ts'
import { simulate } from './simulated-time.ts'
import type { SimulatedTime } from './simulated-time.ts'

const leaseTtlMs = 1_000

/** The same numbers for the same seed (mulberry32). */
function dice(seed: number) {
  let state = seed
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { random, pick: <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T }
}

const kinds = [
  'say',
  'chat',
  'ask',
  'input',
  'auth',
  'fail',
  'reject',
  'throw',
  'reply',
  'wait',
  'point',
  'nothing',
] as const

/** Follows the message, at random speed. */
function agentOf(pause: () => Promise<void>): Agent {
  return {
    resume: 'rerun',
    async *run(turn: Turn) {
      await pause()
      const kind = turn.text as (typeof kinds)[number]
      if (kind === 'say') yield 'said'
      if (kind === 'chat') {
        for (const word of ['a', 'b', 'c', 'd']) {
          yield word
          await pause()
        }
      }
      if (kind === 'ask') yield `got ${await turn.ask('What?')}`
      if (kind === 'input') yield inputRequired('Which?')
      if (kind === 'auth') yield authRequired('Who?')
      if (kind === 'fail') yield fail('no')
      if (kind === 'reject') yield reject('no')
      if (kind === 'throw') throw new Error('no')
      if (kind === 'reply') yield reply('yes')
      if (kind === 'point') await turn.checkpoint(1)
      if (kind === 'wait') {
        yield status('waiting')
        for (let step = 0; step < 20 && !turn.signal.aborted; step += 1) await pause()
      }
    },
  }
}

const midnight = Date.UTC(2030, 0, 1)

/** Returns every task with its log. */
async function live(seed: number): Promise<readonly Kept[]> {
  return simulate(async (time) => {
    const opened: TestEngine[] = []
    try {
      return await simulateRun(time, opened, seed)
    } finally {
      for (const { engine } of opened) await engine.close()
    }
  })
}

/** Adds the engines to close to `engines`. */
async function simulateRun(time: SimulatedTime, engines: TestEngine[], seed: number): Promise<readonly Kept[]> {
  const { random, pick } = dice(seed)
  const isShared = seed % 2 === 0
  let passedMs = 0
  let fails = false
  const now = (): number => midnight + passedMs + time.now()
  const pause = async (): Promise<void> => {
    if (random() < 0.1) await time.sleep(1 + random() * 4)
    for (let step = Math.floor(random() * 4); step > 0; step -= 1) await time.turn()
    for (let step = Math.floor(random() * 6); step > 0; step -= 1) await Promise.resolve()
  }
  const dead = new Set<number>()
  const troubleOf = (which: number) => async (): Promise<void> => {
    if (random() < 0.3) await time.turn()
    if (random() < 0.05) await time.sleep(1 + random() * 9)
    if (dead.has(which) || (fails && random() < 0.05)) throw new Error('the store is out of reach')
  }
  const store = memoryStore({ now, ...(isShared ? { leaseTtlMs } : {}) })
  const whenBusy = pick(['queue', 'steer'] as const)
  const then = pick(['fail', 'continue', undefined] as const)
  const inputTimeout = then === undefined ? {} : { inputTimeout: { afterMs: leaseTtlMs, then } }
  const open = async (which: number, aheadMs: number): Promise<number> =>
    engines.push(
      await openTestEngine({ after: () => {} }, agentOf(pause), {
        store: faultyStore(store, { before: troubleOf(which), after: troubleOf(which) }),
        now: () => now() + aheadMs,
        signer: simulatedSigner,
        sweepMs: 1,
        limits: { waitMs: 50 },
        options: { cancelGraceMs: 5, openAfterMs: 2, turnTimeoutMs: Infinity, whenBusy, ...inputTimeout },
      }),
    )
  await open(0, 0)
  if (isShared) await open(1, pick([0, 0, leaseTtlMs / 4]))
  const ids: string[] = []
  const calls: Promise<unknown>[] = []
  fails = random() < 0.5
  for (let step = 0; step < 15; step += 1) {
    calls.push(act(pick(engines)).catch(() => {}))
    await pause()
    if (isShared && random() < 0.1) passedMs += leaseTtlMs / 2
    // One of two may die without a restart.
    if (isShared && random() < 0.03) dead.add(1)
  }
  await Promise.all(calls)
  fails = false
  const tasks = async (): Promise<readonly Kept[]> => {
    const { tasks: rows } = await store.tasks.list({ tenant: '', agent: 'agent', owner: 'alice', limit: 1_000 })
    return Promise.all(rows.map(async (row) => ({ row, log: await store.tasks.read(row.id, 0) })))
  }
  // Time passes, for clocks and timers alike: living engines keep their leases, and questions end by the timers of their turns.
  for (let lap = 0; lap < 200 && !(await tasks()).every(isAtRest); lap += 1) {
    // A due time that a dead engine claimed is released after a while.
    await time.sleep(lap % 50 === 49 ? dueAgainMs : leaseTtlMs / 4)
  }
  const left = await tasks()
  for (const task of left) {
    assertSound(task)
    await assertSeen(engines[0] as TestEngine, task, store, time)
  }
  return left

  async function act(testEngine: TestEngine): Promise<void> {
    const parts = [{ text: pick(kinds) }]
    const known = ids.length > 0 && random() < 0.6
    if (known && random() < 0.2) {
      await testEngine.cancel(pick(ids))
      return
    }
    const how = { returnImmediately: random() < 0.5 }
    const message = known ? { taskId: pick(ids), parts } : { parts }
    if (random() < 0.3) {
      const reader = await testEngine.stream(message, how)
      const first = await reader.next()
      if (first !== undefined && 'task' in first.event && !known) ids.push(first.event.task.id)
      if (random() < 0.5) await reader.close()
      else await Promise.race([reader.rest(), time.turn()])
      return
    }
    const answer = await testEngine.send(message, how)
    if ('task' in answer && !known) ids.push(answer.task.id)
  }
}

interface Kept {
  readonly row: TaskRow
  readonly log: readonly LogRecord[]
}

/** Whether it has ended, or waits for an answer that was not sent. */
function isAtRest({ row, log }: Kept): boolean {
  const lastMessage = log.findLast(({ body }) => body.type === 'message')?.seq ?? 0
  if (isTerminal(row.status.state)) return true
  return isInterrupted(row.status.state) && lastMessage <= row.consumedSeq && row.due === undefined
}

function assertSound({ row, log }: Kept): void {
  assert.ok(isAtRest({ row, log }), `left unfinished: ${JSON.stringify([row, log])}`)
  const about = JSON.stringify(log.map(({ body }) => body))
  assert.deepEqual(
    log.map(({ seq }) => seq),
    Array.from({ length: log.length }, (_, index) => index + 1),
    about,
  )
  assert.equal(row.head, log.length, about)
  const statuses = log.flatMap(({ body, seq }) => (body.type === 'status' ? [{ state: body.status.state, seq }] : []))
  const ends = statuses.filter(({ state }) => isTerminal(state))
  assert.equal(statuses.filter(({ state }) => state === 'TASK_STATE_SUBMITTED').length, 1, about)
  assert.ok(ends.length <= 1, about)
  if (ends[0] !== undefined) assert.equal(ends[0].seq, log.length, `nothing comes after the end; ${about}`)
  assert.equal(statuses.at(-1)?.state, row.status.state, about)
  assertTurns(log, about)
  const messages = log.filter(({ body }) => body.type === 'message')
  assert.ok(
    messages.every(({ seq }) => seq <= row.consumedSeq),
    `every message was taken or dropped; ${about}`,
  )
  const times = log.map(({ at }) => at)
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
    about,
  )
}

/** An engine shows the fold of the log, and a stream delivers all events once. */
async function assertSeen(engine: TestEngine, { row }: Kept, store: FullStore, time: SimulatedTime): Promise<void> {
  const isSeen = async (): Promise<boolean> => {
    const whole = emptyFold(row.id, row.contextId, row.status)
    for (const record of await store.tasks.read(row.id, 0)) foldRecord(whole, record)
    return isDeepStrictEqual(await engine.get(row.id), taskView(whole))
  }
  // It may take a moment until an engine sees what is already durable.
  for (let lap = 0; lap < 1_000 && !(await isSeen()); lap += 1) await time.sleep(1)
  assert.ok(await isSeen(), `the engine does not show ${row.id} as its log has it`)
  const visible = (await store.tasks.read(row.id, 0)).flatMap(({ body, seq }) => (isVisible(body) ? [seq] : []))
  const reader = await engine.subscribe(row.id, { lastEventId: 0 })
  const items = await reader.through(({ seq }) => seq === visible.at(-1))
  assert.deepEqual(
    items.map(({ seq }) => seq),
    visible,
  )
  await reader.close()
}

/** Turns follow one another, with all attempts of one before the next, and each message is accepted once. */
function assertTurns(log: readonly LogRecord[], about: string): void {
  let last = { turn: 0, attempt: 0 }
  let consumed = 0
  for (const { body } of log) {
    if (body.type === 'turn-started') {
      const isAgain = body.turn === last.turn && body.attempt === last.attempt + 1
      const isNext = body.turn === last.turn + 1 && body.attempt === 1
      assert.ok(isAgain || isNext, about)
      // One that starts because of a timeout has no message.
      assert.ok(isAgain ? body.consumedSeq === consumed : body.consumedSeq >= consumed, about)
      last = body
      consumed = body.consumedSeq
    } else if (body.type === 'answer' || body.type === 'steered') {
      assert.ok(body.messageSeq > consumed || body.messageSeq === 0, about)
      consumed = Math.max(consumed, body.messageSeq)
    }
  }
}

/** Ids come from the system's random numbers. Nothing depends on them but their names. */
function withoutIds(left: readonly Kept[]): unknown {
  const names = new Map<string, string>()
  const name = (id: string): string => names.get(id) ?? (names.set(id, `id-${names.size}`), `id-${names.size - 1}`)
  return JSON.parse(JSON.stringify(left).replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, name))
}

const isFull = process.env['PARLEY_FULL'] === '1'
const lives = Number(process.env['PARLEY_LIVES'] ?? (isFull ? 3_000 : 100))
const firstSeed = Number(process.env['PARLEY_SEED'] ?? (isFull ? Date.now() % 1_000_000 : 1))

describe('chaos', () => {
  it(`leaves consistent logs and no unfinished task, in ${lives} runs from seed ${firstSeed} on`, async () => {
    for (let seed = firstSeed; seed < firstSeed + lives; seed += 1) {
      await live(seed).catch((cause: unknown) => {
        throw new Error(`Seed ${seed} failed. Repeat it: PARLEY_SEED=${seed} PARLEY_LIVES=1 npm test -- simulation`, {
          cause,
        })
      })
    }
  })

  it('leaves the same logs when a seed is repeated', async () => {
    for (const seed of [firstSeed, firstSeed + 1, 28, 29]) {
      const [once, again] = [await live(seed), await live(seed)]
      assert.ok(once.length > 0)
      assert.deepEqual(withoutIds(again), withoutIds(once), `seed ${seed}`)
    }
  })
})
