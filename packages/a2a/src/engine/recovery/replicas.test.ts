/** Two engines over one store, like two processes: a task runs on one, and either serves it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurnOfTheLoop, setTimeout as sleep } from 'node:timers/promises'
import type { Agent, Turn } from '../../agents/agent.ts'
import { inputRequired, status } from '../../agents/reports.ts'
import { isTerminal } from '../../model/state.ts'
import type { Append } from '../../stores/store.ts'
import {
  artifactText,
  chunksOf,
  eventually,
  historyOf,
  short,
  statesOf,
  typesOf,
} from '../../testing/fixtures/test-engine.ts'
import { createPromptedAgent } from '../../testing/fixtures/prompted-agent.ts'
import { openReplicas, startWorkingTask } from '../../testing/fixtures/replicas.ts'
import type { StoreFaults } from '../../testing/fixtures/faulty-store.ts'

describe('a task that runs on another engine', () => {
  it('reads the same there at any time', async (t) => {
    const { agent, say } = createPromptedAgent()
    const { here, there } = await openReplicas(t, agent)
    const id = await startWorkingTask(here)
    assert.deepEqual(await there.get(id), await here.get(id))
    say('a', 'b')
    await eventually(async () => artifactText(await here.get(id)) === 'ab')
    assert.deepEqual(await there.get(id), await here.get(id))
    say('end')
    const done = await here.reaches(id, 'TASK_STATE_COMPLETED')
    assert.deepEqual(await there.get(id), done)
  })

  it('is streamed there with the same events in the same order [B-94]', async (t) => {
    const { agent, say } = createPromptedAgent()
    const { here, there } = await openReplicas(t, agent)
    const id = await startWorkingTask(here)
    const readers = await Promise.all([here.subscribe(id), there.subscribe(id)])
    const [first, second] = await Promise.all(readers.map((reader) => reader.next()))
    assert.deepEqual(first?.event, second?.event)
    say('a', 'b', 'c', 'end')
    const [seenHere = [], seenThere = []] = await Promise.all(readers.map((reader) => reader.rest()))
    assert.deepEqual(chunksOf(seenThere), ['a', 'b', 'c'])
    assert.deepEqual(seenThere, seenHere)
  })

  it('is awaited there by a send [B-63]', async (t) => {
    const { agent, say } = createPromptedAgent()
    const { here, there } = await openReplicas(t, agent)
    await here.start({ messageId: 'm1', parts: [{ text: 'go' }] })
    const blocked = there.task({ messageId: 'm1', parts: [{ text: 'go' }] })
    say('a', 'end')
    const done = await blocked
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.equal(artifactText(done), 'a')
  })

  it('is canceled there, and its agent is stopped here [B-110]', async (t) => {
    const stopped = Promise.withResolvers<unknown>()
    const { here, there } = await openReplicas(
      t,
      async function* ({ signal }: Turn) {
        yield status('here')
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        stopped.resolve(signal.reason)
      },
      { options: { cancelGraceMs: 5_000 } },
    )
    const id = await startWorkingTask(here)
    const stream = await here.subscribe(id)
    assert.equal(short((await there.cancel(id)).status.state), 'CANCELED')
    assert.match(String(await stopped.promise), /canceled/)
    assert.equal(statesOf(await stream.rest()).at(-1), 'CANCELED')
  })

  it('is canceled there even if its agent ignores it, and later output is dropped [B-110 B-43]', async (t) => {
    const { agent, say } = createPromptedAgent()
    const { here, there, store } = await openReplicas(t, agent)
    const id = await startWorkingTask(here)
    const stream = await here.subscribe(id)
    const blocked = here.start({ messageId: 'm2' })
    const canceled = await there.cancel(id)
    say('too late', 'end')
    assert.equal(statesOf(await stream.rest()).at(-1), 'CANCELED', 'and streams here end with it, not with an error')
    await blocked
    await sleep(5)
    assert.deepEqual(await here.get(id), canceled)
    const ends = (await store.tasks.read(id, 0)).filter(
      ({ body }) => body.type === 'status' && isTerminal(body.status.state),
    )
    assert.equal(ends.length, 1)
  })

  it('accepts a message there, which gets its turn here [B-45]', async (t) => {
    const { agent, say } = createPromptedAgent()
    const { here, there } = await openReplicas(t, agent)
    const id = await startWorkingTask(here)
    const second = there.task({ taskId: id, parts: [{ text: 'more' }] })
    await eventually(async () => (await here.get(id)).history?.length === 2)
    say('a', 'end')
    const done = await second
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.equal(artifactText(done, 'answer-2'), 'did more')
    assert.deepEqual(await here.get(id), done)
  })

  it('gets the answer to its question there, during its turn here', async (t) => {
    const { here, there } = await openReplicas(t, async (turn) => `to ${await turn.ask('Which?')}`)
    const asked = await here.task('go')
    const done = await there.task({ taskId: asked.id, parts: [{ text: 'Rome' }] })
    assert.equal(artifactText(done), 'to Rome')
    assert.deepEqual(historyOf(done), ['go', 'Which?', 'Rome'])
    assert.equal(typesOf(await there.log(asked.id)).filter((type) => type === 'turn-started').length, 1)
  })

  it('continues after waiting for input on the engine that receives the answer', async (t) => {
    const ran: string[] = []
    const agent: Agent = ({ text }) => (text === 'go' ? inputRequired('Which?') : `to ${text}`)
    const { here, there } = await openReplicas(t, (turn) => {
      ran.push(turn.text)
      return (agent as (turn: Turn) => string)(turn)
    })
    const asked = await here.task('go')
    assert.equal(artifactText(await there.task({ taskId: asked.id, parts: [{ text: 'Rome' }] }), 'answer-2'), 'to Rome')
    assert.deepEqual(ran, ['go', 'Rome'])
    assert.equal(short((await here.get(asked.id)).status.state), 'COMPLETED')
  })

  it('runs once, even if both engines get an answer at the same time', async (t) => {
    let atOnce = 0
    let most = 0
    const { here, there } = await openReplicas(t, async ({ text }) => {
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
      // Either both had their turn, or the second arrived when the task was over; none is lost silently.
      const taken = answers.filter(({ status }) => status === 'fulfilled').length
      assert.equal(done.artifacts?.length, taken)
    }
    assert.equal(most, 1)
  })

  for (const moment of ['before', 'after']) {
    it(`loses no message when the turn there ends just ${moment} this engine writes it`, async (t) => {
      const gate = Promise.withResolvers<void>()
      const waits = Promise.withResolvers<void>()
      let isOver = false
      async function turnEnds(): Promise<void> {
        if (isOver) return
        isOver = true
        gate.resolve()
        await waits.promise
      }
      const { here, there } = await openReplicas(
        t,
        async ({ text }) => {
          if (text !== 'go') return `did ${text}`
          await gate.promise
          return inputRequired('Which?')
        },
        {},
        { [moment]: (method: string) => (method === 'tasks.append' ? turnEnds() : undefined) },
      )
      const { id } = await there.start('go')
      await there.reaches(id, 'TASK_STATE_WORKING')
      const more = here.task({ taskId: id, parts: [{ text: 'more' }] })
      // A message that arrived in time is what the turn would have asked for.
      await there.reaches(id, moment === 'before' ? 'TASK_STATE_INPUT_REQUIRED' : 'TASK_STATE_COMPLETED')
      waits.resolve()
      assert.equal(artifactText(await more, 'answer-2'), 'did more')
    })
  }

  it('accepts a message or a cancel at the first attempt, however fast its log grows there', async (t) => {
    const appends: string[] = []
    const { here, there } = await openReplicas(
      t,
      async function* ({ signal, text }) {
        for (let word = 0; !signal.aborted && text === 'go'; word += 1) {
          yield `${word} `
          if (word % 3 === 0) await nextTurnOfTheLoop()
        }
      },
      { options: { cancelGraceMs: 5_000 } },
      {
        before(method, given) {
          if (method === 'tasks.append') appends.push(...(given[1] as Append).records.map(({ body }) => body.type))
        },
        // It is always behind: what it has read is old when it writes.
        after: (method) => (method === 'tasks.read' ? sleep(2) : undefined),
      },
    )
    const { id } = await there.start('go')
    await there.reaches(id, 'TASK_STATE_WORKING')
    await here.start({ taskId: id, parts: [{ text: 'more' }] })
    assert.equal(short((await here.cancel(id)).status.state), 'CANCELED')
    assert.deepEqual(appends.slice(0, 2), ['message', 'cancel'])
    assert.deepEqual(await there.get(id), await here.get(id))
  })

  it('is canceled there between two turns here, without a running agent [B-110]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const turns: string[] = []
    const cancel: { answer?: Promise<unknown> } = {}
    const { here, there } = await openReplicas(
      t,
      async ({ text }) => {
        turns.push(text)
        if (text === 'go') await gate.promise
        else await new Promise(() => {})
      },
      { options: { cancelGraceMs: 60_000 } },
      {
        async after(method, given) {
          const ended = (given[1] as Append | undefined)?.records?.find(({ body }) => body.type === 'turn-ended')
          if (method !== 'tasks.append' || ended === undefined || cancel.answer !== undefined) return
          const id = given[0] as string
          cancel.answer = there.cancel(id)
          await eventually(async () => typesOf(await there.log(id)).includes('cancel'))
        },
      },
    )
    const { id } = await here.start('go')
    await here.start({ taskId: id, parts: [{ text: 'more' }] })
    gate.resolve()
    await here.reaches(id, 'TASK_STATE_CANCELED')
    await cancel.answer
    assert.deepEqual(turns, ['go'])
  })

  it('loses no message that arrives while the other engine ends the turn', async (t) => {
    const { here, there } = await openReplicas(t, async ({ text }) => {
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
      assert.equal(artifactText(done, 'answer-2'), 'did more')
    }
  })
})

describe('a store with slow responses', () => {
  it('delivers no record twice to any reader', async (t) => {
    // The append is durable, and other engines are woken, long before this engine learns of it.
    const slow: StoreFaults = { after: (method) => (method === 'tasks.append' ? sleep(3) : undefined) }
    const { here, there } = await openReplicas(
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
    assert.equal(artifactText(await here.get(first.task.id)), expected)
    assert.deepEqual(await there.get(first.task.id), await here.get(first.task.id))
    assert.equal((await here.log(first.task.id)).length, items.at(-1)?.seq)
  })
})
