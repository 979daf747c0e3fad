/** Two engines over one store, as two processes are: a task runs on one, and either answers for it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate as nextTurnOfTheLoop, setTimeout as sleep } from 'node:timers/promises'
import type { Agent, Turn } from '../agents/agent.ts'
import { inputRequired, status } from '../agents/reports.ts'
import { isTerminal } from '../model/state.ts'
import { memoryStore } from '../stores/memory.ts'
import type { House, HouseOptions } from '../testing/engine-fixture.ts'
import {
  answerOf,
  chunksOf,
  eventually,
  historyOf,
  openHouse,
  saying,
  short,
  stateOf,
  statesOf,
  typesOf,
} from '../testing/engine-fixture.ts'
import type { Trouble } from '../testing/troubled-store.ts'
import { troubledStore } from '../testing/troubled-store.ts'

const leaseTtlMs = 10_000

/** `here` may have troubles with the store that `there` has not. */
async function replicas(t: TestContext, agent: Agent, options: HouseOptions = {}, trouble: Trouble = {}) {
  let at = Date.now()
  const now = (): number => at
  const store = memoryStore({ leaseTtlMs, now })
  const here = await openHouse(t, agent, { ...options, store: troubledStore(store, trouble), now })
  const there = await openHouse(t, agent, { ...options, store, now })
  return { here, there, store, pass: (ms: number) => void (at += ms) }
}

/** Speaks when it is let, and ends when it is told. */
function prompted() {
  const words: string[] = []
  let wake: (() => void) | undefined
  const agent: Agent = async function* ({ text }: Turn) {
    if (text !== 'go') {
      yield `did ${text}`
      return
    }
    yield status('here')
    for (;;) {
      const word = words.shift()
      if (word === undefined) await new Promise<void>((resolve) => (wake = resolve))
      else if (word === 'end') return
      else yield word
    }
  }
  const say = (...more: string[]): void => {
    words.push(...more)
    wake?.()
  }
  return { agent, say }
}

const startedOn = async (house: House): Promise<string> => {
  const { id } = await house.start('go')
  await house.reaches(id, 'TASK_STATE_WORKING')
  return id
}

describe('a task that runs on another engine', () => {
  it('is read there as it is here, at any time', async (t) => {
    const { agent, say } = prompted()
    const { here, there } = await replicas(t, agent)
    const id = await startedOn(here)
    assert.deepEqual(await there.get(id), await here.get(id))
    say('a', 'b')
    await eventually(async () => answerOf(await here.get(id)) === 'ab')
    assert.deepEqual(await there.get(id), await here.get(id))
    say('end')
    const done = await here.reaches(id, 'TASK_STATE_COMPLETED')
    assert.deepEqual(await there.get(id), done)
  })

  it('is streamed there with the same events in the same order [B-94]', async (t) => {
    const { agent, say } = prompted()
    const { here, there } = await replicas(t, agent)
    const id = await startedOn(here)
    const readers = await Promise.all([here.subscribe(id), there.subscribe(id)])
    const [first, second] = await Promise.all(readers.map((reader) => reader.next()))
    assert.deepEqual(first?.event, second?.event)
    say('a', 'b', 'c', 'end')
    const [seenHere = [], seenThere = []] = await Promise.all(readers.map((reader) => reader.rest()))
    assert.deepEqual(chunksOf(seenThere), ['a', 'b', 'c', ''])
    assert.deepEqual(seenThere, seenHere)
  })

  it('is waited for there by a send [B-63]', async (t) => {
    const { agent, say } = prompted()
    const { here, there } = await replicas(t, agent)
    await here.start({ messageId: 'm1', parts: [{ text: 'go' }] })
    const blocked = there.task({ messageId: 'm1', parts: [{ text: 'go' }] })
    say('a', 'end')
    const done = await blocked
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.equal(answerOf(done), 'a')
  })

  it('is canceled there, and its agent is told here [B-110]', async (t) => {
    const told = Promise.withResolvers<unknown>()
    const { here, there } = await replicas(
      t,
      async function* ({ signal }: Turn) {
        yield status('here')
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        told.resolve(signal.reason)
      },
      { options: { cancelGraceMs: 5_000 } },
    )
    const id = await startedOn(here)
    const stream = await here.subscribe(id)
    assert.equal(short((await there.cancel(id)).status.state), 'CANCELED')
    assert.match(String(await told.promise), /canceled/)
    assert.equal(statesOf(await stream.rest()).at(-1), 'CANCELED')
  })

  it('is canceled there though its agent does not listen, and what the agent says then is lost [B-110 B-43]', async (t) => {
    const { agent, say } = prompted()
    const { here, there, store } = await replicas(t, agent)
    const id = await startedOn(here)
    const stream = await here.subscribe(id)
    const blocked = here.start({ messageId: 'm2' })
    const canceled = await there.cancel(id)
    say('too late', 'end')
    assert.equal(statesOf(await stream.rest()).at(-1), 'CANCELED', 'and streams here end with it, not with an error')
    await blocked
    await sleep(5)
    assert.deepEqual(await here.get(id), canceled)
    const ends = (await store.read(id, 0)).filter(({ body }) => body.type === 'status' && isTerminal(body.status.state))
    assert.equal(ends.length, 1)
  })

  it('takes a message there, which gets its turn here [B-45]', async (t) => {
    const { agent, say } = prompted()
    const { here, there } = await replicas(t, agent)
    const id = await startedOn(here)
    const second = there.task({ taskId: id, parts: [{ text: 'more' }] })
    await eventually(async () => (await here.get(id)).history?.length === 2)
    say('a', 'end')
    const done = await second
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.equal(answerOf(done, 'answer-2'), 'did more')
    assert.deepEqual(await here.get(id), done)
  })

  it('gets the answer to its question there, in the middle of its turn here', async (t) => {
    const { here, there } = await replicas(t, async (turn) => `to ${await turn.ask('Which?')}`)
    const asked = await here.task('go')
    const done = await there.task({ taskId: asked.id, parts: [{ text: 'Rome' }] })
    assert.equal(answerOf(done), 'to Rome')
    assert.deepEqual(historyOf(done), ['go', 'Which?', 'Rome'])
    assert.equal(typesOf(await there.log(asked.id)).filter((type) => type === 'turn-started').length, 1)
  })

  it('goes on there when it waited for input: whoever gets the answer works on it', async (t) => {
    const ran: string[] = []
    const agent: Agent = ({ text }) => (text === 'go' ? inputRequired('Which?') : `to ${text}`)
    const { here, there } = await replicas(t, (turn) => {
      ran.push(turn.text)
      return (agent as (turn: Turn) => string)(turn)
    })
    const asked = await here.task('go')
    assert.equal(answerOf(await there.task({ taskId: asked.id, parts: [{ text: 'Rome' }] }), 'answer-2'), 'to Rome')
    assert.deepEqual(ran, ['go', 'Rome'])
    assert.equal(short((await here.get(asked.id)).status.state), 'COMPLETED')
  })

  it('is worked on once, though both engines get an answer at the same moment', async (t) => {
    let atOnce = 0
    let most = 0
    const { here, there } = await replicas(t, async ({ text }) => {
      if (text === 'go') return inputRequired('Which?')
      atOnce += 1
      most = Math.max(most, atOnce)
      await nextTurnOfTheLoop()
      atOnce -= 1
      return `to ${text}`
    })
    for (let run = 0; run < 40; run += 1) {
      const { id } = await here.task('go')
      const answers = await Promise.allSettled([
        here.task({ taskId: id, parts: [{ text: 'Rome' }] }),
        there.task({ taskId: id, parts: [{ text: 'Oslo' }] }),
      ])
      const done = await here.reaches(id, 'TASK_STATE_COMPLETED')
      // Either both had their turn, or the second came when it was over; none is lost without a word.
      const taken = answers.filter(({ status }) => status === 'fulfilled').length
      assert.equal(done.artifacts?.length, taken)
    }
    assert.equal(most, 1)
  })

  it('loses no message that comes while the other engine ends the turn', async (t) => {
    const { here, there } = await replicas(t, async ({ text }) => {
      if (text !== 'go') return `did ${text}`
      await nextTurnOfTheLoop()
      await nextTurnOfTheLoop()
      return inputRequired('Which?')
    })
    for (let run = 0; run < 100; run += 1) {
      const { id } = await here.start('go')
      for (let step = 0; step < run % 5; step += 1) await nextTurnOfTheLoop()
      for (let step = 0; step < run % 7; step += 1) await Promise.resolve()
      const done = await there.task({ taskId: id, parts: [{ text: 'more' }] })
      assert.equal(short(done.status.state), 'COMPLETED')
      assert.equal(answerOf(done, 'answer-2'), 'did more')
    }
  })
})

describe('a store that is slow to answer', () => {
  it('makes nobody see a record twice', async (t) => {
    // The append is durable, and others are woken, long before this engine hears of it.
    const slow: Trouble = { after: (method) => (method === 'append' ? sleep(3) : undefined) }
    const { here, there } = await replicas(
      t,
      async function* () {
        for (let word = 0; word < 20; word += 1) {
          yield `${word},`
          await sleep(1)
        }
      },
      {},
      slow,
    )
    const stream = await here.stream('go')
    const items = await stream.rest()
    const expected = Array.from({ length: 20 }, (_, word) => `${word},`).join('')
    assert.equal(chunksOf(items).join(''), expected)
    const first = items[0]?.event
    assert.ok(first !== undefined && 'task' in first)
    assert.equal(answerOf(await here.get(first.task.id)), expected)
    assert.deepEqual(await there.get(first.task.id), await here.get(first.task.id))
    assert.equal((await here.log(first.task.id)).length, items.at(-1)?.seq)
  })
})

describe('a lease', () => {
  it('is kept alive for as long as the work takes, and for work that has not opened its task yet', async (t) => {
    const { agent, say } = prompted()
    const quiet = Promise.withResolvers<void>()
    const { here, there, pass } = await replicas(
      t,
      (turn) => {
        if (turn.text === 'go') return (agent as (turn: Turn) => AsyncGenerator<string>)(turn)
        return quiet.promise.then(() => 'late')
      },
      { options: { openAfterMs: 60_000, turnTimeoutMs: Infinity }, sweepMs: 2 },
    )
    const id = await startedOn(here)
    const unopened = here.task('quiet')
    for (let lap = 0; lap < 4; lap += 1) {
      pass(leaseTtlMs / 2)
      await sleep(15)
    }
    say('a', 'end')
    quiet.resolve()
    assert.equal(answerOf(await here.reaches(id, 'TASK_STATE_COMPLETED')), 'a')
    assert.equal(answerOf(await unopened), 'late')
    assert.ok(there.lines.every(({ message }) => !message.includes('interrupted')))
  })

  for (const ending of ['has ended it', 'still works on it']) {
    it(`that a paused engine lost is another’s: what the paused one writes is refused when the other ${ending}`, async (t) => {
      const [wake, words, more] = [
        Promise.withResolvers<void>(),
        Promise.withResolvers<void>(),
        Promise.withResolvers<void>(),
      ]
      const told = Promise.withResolvers<{ code?: string }>()
      const agent: Agent = {
        resume: 'rerun',
        async *run({ resumed, signal }: Turn) {
          yield resumed === undefined ? 'from the first' : 'from the second'
          if (resumed !== undefined) {
            if (ending !== 'has ended it') await more.promise
            return
          }
          signal.addEventListener('abort', () => told.resolve(signal.reason as { code?: string }))
          await words.promise
          yield 'from the grave'
          await new Promise(() => {})
        },
      }
      // It can write, but gets to nothing that would tell it what has happened, as when it has slept.
      let paused = false
      const asleep = (method: string): boolean =>
        paused && ['renew', 'claimOrphans', 'changed', 'read'].includes(method)
      const trouble: Trouble = { before: (method) => (asleep(method) ? wake.promise : undefined) }
      const { here, there, store, pass } = await replicas(t, agent, { options: { turnTimeoutMs: Infinity } }, trouble)
      const { id } = await here.start('go')
      await eventually(async () => answerOf(await here.get(id)) === 'from the first')
      const stream = await here.subscribe(id)
      await stream.next()
      paused = true
      pass(leaseTtlMs)
      await eventually(async () => answerOf(await there.get(id)) === 'from the second')
      if (ending === 'has ended it') await there.reaches(id, 'TASK_STATE_COMPLETED')
      const before = await store.read(id, 0)
      words.resolve()
      await sleep(5)
      assert.deepEqual(await store.read(id, 0), before, 'the append was refused')
      paused = false
      wake.resolve()
      if (ending === 'has ended it') assert.equal(statesOf(await stream.rest()).at(-1), 'COMPLETED')
      else await assert.rejects(stream.rest(), { code: 'UNAVAILABLE' })
      await told.promise
      more.resolve()
      const done = await there.reaches(id, 'TASK_STATE_COMPLETED')
      assert.equal(answerOf(done), 'from the second')
      assert.deepEqual(await here.get(id), done, 'and the one that slept sees what became of it')
    })
  }

  it('that ran out while nobody else wanted it is taken up again by the same engine', async (t) => {
    const attempts: number[] = []
    let asleep = false
    const { here, pass } = await replicas(
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
      { before: (method) => (asleep && method === 'renew' ? sleep(5) : undefined) },
    )
    const { id } = await here.start('go')
    await here.reaches(id, 'TASK_STATE_WORKING')
    asleep = true
    pass(leaseTtlMs)
    assert.equal(answerOf(await here.reaches(id, 'TASK_STATE_COMPLETED')), 'done')
    assert.deepEqual(attempts, [1, 2])
  })

  it('that comes with a message brings the turn that was interrupted, and only then the message’s own', async (t) => {
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
    // Nobody looks for orphans before the message comes.
    const { here, there, pass } = await replicas(t, agent, { options: { turnTimeoutMs: Infinity }, sweepMs: 1_000_000 })
    const id = await startedOn(here)
    await here.engine.close()
    pass(leaseTtlMs)
    const done = await there.task({ taskId: id, parts: [{ text: 'more' }] })
    assert.deepEqual(turns, ['go 1', 'go 2', 'more 1'])
    assert.equal(answerOf(done), 'did go')
    assert.equal(answerOf(done, 'answer-2'), 'did more')
  })

  it('is not needed to let a question run out: the engine that asked hears of it [S2-16]', async (t) => {
    const inputTimeout = { afterMs: 100, then: 'continue' } as const
    // Only the engine that does not run the task looks for what is due.
    const { here, there, pass } = await replicas(
      t,
      async (turn) => `got ${JSON.stringify(await turn.ask('Which?'))}`,
      { options: { inputTimeout } },
      {
        before(method) {
          if (method === 'claimDue') throw new Error('not here')
        },
      },
    )
    const { id } = await here.task('go')
    const watch = await here.subscribe(id)
    pass(100)
    const items = await watch.through((item) => stateOf(item) === 'TASK_STATE_COMPLETED')
    assert.equal(chunksOf(items).join(''), 'got ""')
    assert.match(saying((await there.get(id)).history?.at(-1)) ?? '', /No answer came in time/)
  })
})
