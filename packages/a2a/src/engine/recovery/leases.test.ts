/** Which process may run a task: a lease is kept, lost, taken over and fenced. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, Turn } from '../../agents/agent.ts'
import { status } from '../../agents/reports.ts'
import type { Append } from '../../stores/store.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import {
  type TestEngine,
  artifactText,
  chunksOf,
  eventually,
  openTestEngine,
  textOfMessage,
  stateOfItem,
  statesOf,
} from '../../testing/fixtures/test-engine.ts'
import { createPromptedAgent } from '../../testing/fixtures/prompted-agent.ts'
import { leaseTtlMs, openReplicas, startWorkingTask } from '../../testing/fixtures/replicas.ts'
import { type StoreMethod, type StoreFaults, faultyStore } from '../../testing/fixtures/faulty-store.ts'

describe('a lease', () => {
  it('is kept for as long as the work takes, also before the task is opened', async (t) => {
    const { agent, say } = createPromptedAgent()
    const quiet = Promise.withResolvers<void>()
    const { here, there, pass } = await openReplicas(
      t,
      (turn) => {
        if (turn.text === 'go') return (agent as (turn: Turn) => AsyncGenerator<string>)(turn)
        return quiet.promise.then(() => 'late')
      },
      { options: { openAfterMs: 60_000, turnTimeoutMs: Infinity }, sweepMs: 2 },
    )
    const id = await startWorkingTask(here)
    const unopened = here.task('quiet')
    for (let lap = 0; lap < 4; lap += 1) {
      pass(leaseTtlMs / 2)
      await sleep(15)
    }
    say('a', 'end')
    quiet.resolve()
    assert.equal(artifactText(await here.reaches(id, 'TASK_STATE_COMPLETED')), 'a')
    assert.equal(artifactText(await unopened), 'late')
    assert.ok(there.lines.every(({ message }) => !message.includes('interrupted')))
  })

  for (const ending of ['has ended it', 'still works on it']) {
    it(`that a paused engine lost belongs to another: writes of the paused one are refused when the other ${ending}`, async (t) => {
      const [wake, words, more] = [
        Promise.withResolvers<void>(),
        Promise.withResolvers<void>(),
        Promise.withResolvers<void>(),
      ]
      const aborted = Promise.withResolvers<{ code?: string }>()
      const agent: Agent = {
        resume: 'rerun',
        async *run({ resumed, signal }: Turn) {
          yield resumed === undefined ? 'from the first' : 'from the second'
          if (resumed !== undefined) {
            if (ending !== 'has ended it') await more.promise
            return
          }
          signal.addEventListener('abort', () => aborted.resolve(signal.reason as { code?: string }))
          await words.promise
          yield 'from the grave'
          await new Promise(() => {})
        },
      }
      // It can write, but reads nothing that would reveal what has happened, as after a suspend.
      let paused = false
      const asleep = (method: string): boolean =>
        paused && ['tasks.renew', 'tasks.claimOrphans', 'tasks.changed', 'tasks.read'].includes(method)
      const trouble: StoreFaults = { before: (method) => (asleep(method) ? wake.promise : undefined) }
      const { here, there, store, pass } = await openReplicas(
        t,
        agent,
        { options: { turnTimeoutMs: Infinity } },
        trouble,
      )
      const { id } = await here.start('go')
      await eventually(async () => artifactText(await here.get(id)) === 'from the first')
      const stream = await here.subscribe(id)
      await stream.next()
      paused = true
      pass(leaseTtlMs)
      await eventually(async () => artifactText(await there.get(id)) === 'from the second')
      if (ending === 'has ended it') await there.reaches(id, 'TASK_STATE_COMPLETED')
      const before = await store.tasks.read(id, 0)
      words.resolve()
      await sleep(5)
      assert.deepEqual(await store.tasks.read(id, 0), before, 'the append was refused')
      paused = false
      wake.resolve()
      if (ending === 'has ended it') assert.equal(statesOf(await stream.rest()).at(-1), 'COMPLETED')
      else await assert.rejects(stream.rest(), { code: 'UNAVAILABLE' })
      await aborted.promise
      more.resolve()
      const done = await there.reaches(id, 'TASK_STATE_COMPLETED')
      assert.equal(artifactText(done), 'from the second')
      assert.deepEqual(await here.get(id), done, 'and the one that slept sees what became of it')
    })
  }

  it('that expired without another taker is taken again by the same engine', async (t) => {
    const attempts: number[] = []
    let asleep = false
    const { here, pass } = await openReplicas(
      t,
      {
        resume: 'rerun',
        async *run({ resumed }: Turn) {
          attempts.push(resumed?.attempt ?? 1)
          yield status('here')
          if (resumed === undefined) await new Promise(() => {})
          yield 'done'
        },
      },
      { options: { turnTimeoutMs: Infinity } },
      { before: (method) => (asleep && method === 'tasks.renew' ? sleep(5) : undefined) },
    )
    const { id } = await here.start('go')
    await here.reaches(id, 'TASK_STATE_WORKING')
    asleep = true
    pass(leaseTtlMs)
    assert.equal(artifactText(await here.reaches(id, 'TASK_STATE_COMPLETED')), 'done')
    assert.deepEqual(attempts, [1, 2])
  })

  it('that expired with the timeout of its turn is taken over by one engine, and no other times that turn out [B-52]', async (t) => {
    const agent: Agent = {
      resume: 'rerun',
      run: async ({ resumed }) => (resumed === undefined ? new Promise(() => {}) : sleep(300, 'in time')),
    }
    let at = Date.now()
    let isGone = false
    const shared = memoryStore({ leaseTtlMs, now: () => at })
    const engineWithFaults = (before: NonNullable<StoreFaults['before']>): Promise<TestEngine> =>
      openTestEngine(t, agent, {
        store: faultyStore(shared, { before }),
        now: () => at,
        options: { turnTimeoutMs: leaseTtlMs },
      })
    const gone = await engineWithFaults(() => {
      if (isGone) throw new Error('the process is gone')
    })
    // So slow that each checks due times before the log shows that the turn has started again.
    const slowly = (method: StoreMethod): unknown => !method.includes('claim') && sleep(20)
    const [left] = await Promise.all([engineWithFaults(slowly), engineWithFaults(slowly)])
    const ids = await Promise.all(Array.from({ length: 20 }, () => startWorkingTask(gone)))
    isGone = true
    at += leaseTtlMs
    const tasks = await Promise.all(ids.map((id) => left.reaches(id, 'TASK_STATE_COMPLETED')))
    assert.deepEqual([...new Set(tasks.map((task) => artifactText(task)))], ['in time'])
  })

  it('that a message takes over runs the interrupted turn first, and then that of the message', async (t) => {
    const gate = Promise.withResolvers<void>()
    const turns: string[] = []
    const agent: Agent = {
      resume: 'rerun',
      async *run({ text, resumed }: Turn) {
        turns.push(`${text} ${resumed?.attempt ?? 1}`)
        yield status('here')
        if (text === 'go' && resumed === undefined) await gate.promise
        yield `did ${text}`
      },
    }
    // No engine looks for orphans before the message arrives.
    const { here, there, pass } = await openReplicas(t, agent, {
      options: { turnTimeoutMs: Infinity },
      sweepMs: 1_000_000,
    })
    const id = await startWorkingTask(here)
    await here.engine.close()
    pass(leaseTtlMs)
    const done = await there.task({ taskId: id, parts: [{ text: 'more' }] })
    assert.deepEqual(turns, ['go 1', 'go 2', 'more 1'])
    assert.equal(artifactText(done), 'did go')
    assert.equal(artifactText(done, 'answer-2'), 'did more')
  })

  it('that a message takes over gives the turn its full time, although the earlier deadline has passed [B-52]', async (t) => {
    const agent: Agent = {
      resume: 'rerun',
      async run({ text, resumed }) {
        if (text === 'go') await (resumed === undefined ? new Promise(() => {}) : sleep(100))
        return `did ${text}`
      },
    }
    let at = Date.now()
    const shared = memoryStore({ leaseTtlMs, now: () => at })
    const options = { now: () => at, options: { turnTimeoutMs: leaseTtlMs } }
    const gone = await openTestEngine(t, agent, { ...options, store: shared, sweepMs: 1_000_000 })
    const id = await startWorkingTask(gone)
    await gone.engine.close()
    at += leaseTtlMs
    // It finds no orphans, and checks due times while the log does not show yet that the turn has started again.
    const slow = faultyStore(shared, { before: (method) => method === 'tasks.append' && sleep(50) })
    const store = { ...slow, tasks: { ...slow.tasks, claimOrphans: async () => [] } }
    const engine = await openTestEngine(t, agent, { ...options, store })
    const done = await engine.task({ taskId: id, parts: [{ text: 'more' }] })
    assert.equal(artifactText(done), 'did go')
    assert.equal(artifactText(done, 'answer-2'), 'did more')
  })

  it('is not released by an earlier run, if it was taken again since', async (t) => {
    const runs: string[] = []
    const agent: Agent = {
      resume: 'rerun',
      async *run({ text, resumed }: Turn) {
        runs.push(`${text} ${resumed?.attempt ?? 1}`)
        yield status('here')
        if (text === 'go' && resumed === undefined) {
          await more.promise
          yield 'more'
          await new Promise(() => {})
        }
        yield `did ${text}`
      },
    }
    const [more, renewed, written] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ]
    let [renewals, gaveBack, isDown, isSlow] = [0, 0, false, false]
    const { here, there, store } = await openReplicas(
      t,
      agent,
      { options: { turnTimeoutMs: Infinity } },
      {
        before(method) {
          if (method === 'tasks.append' && isDown) throw new Error('out of reach')
        },
        after(method, given) {
          if (method === 'tasks.append' && isSlow) return written.promise
          if (method !== 'tasks.renew') return undefined
          if (given[3] !== undefined || renewals > 0) gaveBack += 1
          renewals += 1
          return renewals === 1 ? renewed.promise : undefined
        },
      },
    )
    const { id } = await here.start('go')
    await eventually(() => renewals === 1)
    isDown = true
    more.resolve()
    await eventually(() => here.lines.some(({ message }) => message === 'a task could not be written'))
    isDown = false
    isSlow = true
    const answered = here.task({ taskId: id, parts: [{ text: 'on' }] })
    await eventually(
      async () => (await store.tasks.read(id, 0)).filter(({ body }) => body.type === 'message').length === 2,
    )
    renewed.resolve()
    await eventually(() => gaveBack > 0)
    isSlow = false
    written.resolve()
    await answered
    assert.deepEqual(runs, ['go 1', 'go 2', 'on 1'])
    assert.ok(there.lines.every(({ message }) => !message.includes('interrupted')))
  })

  it('that the last append has released, without a response yet, is not lost when it cannot be renewed', async (t) => {
    const { agent, say } = createPromptedAgent()
    const prolonged = Promise.withResolvers<void>()
    let isGivenBack = false
    const gives = (method: string, given: unknown) => method === 'tasks.append' && (given as Append).release === true
    const { here } = await openReplicas(
      t,
      agent,
      { sweepMs: 2 },
      {
        before(method, [, given]) {
          isGivenBack ||= gives(method, given)
          // The log would reveal it as well.
          return method === 'tasks.read' && isGivenBack ? prolonged.promise : undefined
        },
        after(method, [, given]) {
          if (method === 'tasks.renew' && isGivenBack) setTimeout(prolonged.resolve, 5)
          return gives(method, given) ? prolonged.promise : undefined
        },
      },
    )
    const id = await startWorkingTask(here)
    const reader = await here.subscribe(id)
    say('done', 'end')
    assert.equal(statesOf(await reader.rest()).at(-1), 'COMPLETED')
    assert.equal(artifactText(await here.get(id)), 'done')
  })

  it('is not needed for an input timeout: the engine that asked learns of it [S2-16]', async (t) => {
    const inputTimeout = { afterMs: 100, then: 'continue' } as const
    // Only the engine that does not run the task looks for due tasks.
    const { here, there, pass } = await openReplicas(
      t,
      async (turn) => `got ${JSON.stringify(await turn.ask('Which?'))}`,
      { options: { inputTimeout } },
      {
        before(method) {
          if (method === 'tasks.claimDue') throw new Error('not here')
        },
      },
    )
    const { id } = await here.task('go')
    const watch = await here.subscribe(id)
    pass(100)
    const items = await watch.through((item) => stateOfItem(item) === 'TASK_STATE_COMPLETED')
    assert.equal(chunksOf(items).join(''), 'got ""')
    assert.match(textOfMessage((await there.get(id)).history?.at(-1)) ?? '', /No answer arrived in time/)
  })
})
