/** Streams and subscriptions: their events, the order of these, and when they end. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, Turn } from '../../agents/agent.ts'
import { authRequired, inputRequired, reply } from '../../agents/reports.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import {
  aliceContext,
  artifactText,
  chunksOf,
  historyOf,
  openTestEngine,
  textOfMessage,
  short,
  stateOfItem,
  statesOf,
} from '../../testing/fixtures/test-engine.ts'
import { createPromptedAgent } from '../../testing/fixtures/prompted-agent.ts'
import { faultyStore } from '../../testing/fixtures/faulty-store.ts'
import type { StreamItem } from '../contract.ts'
import { toPollable } from '../../model/pollable.ts'

const seqsOf = (items: readonly StreamItem[]): readonly (number | undefined)[] => items.map(({ seq }) => seq)
const finalsOf = (items: readonly StreamItem[]): readonly number[] =>
  items.flatMap(({ final }, index) => (final ? [index - items.length] : []))
const isChunk = ({ event }: StreamItem): boolean => 'artifactUpdate' in event

/** Reports as many words as the message says. */
const counter: Agent = async function* ({ text }: Turn) {
  for (let word = 0; word < Number(text); word += 1) yield `${word} `
}

describe('a stream', () => {
  it('is refused by an agent that does not stream, and so is a subscription [B-88 B-106]', async (t) => {
    const testEngine = await openTestEngine(t, counter, { entry: { streaming: false } })
    await assert.rejects(testEngine.stream('1'), { code: 'UNSUPPORTED_OPERATION' })
    const { id } = await testEngine.task('1')
    await assert.rejects(testEngine.subscribe(id, {}, 'replay'), { code: 'UNSUPPORTED_OPERATION' })
  })

  it('has one Message and ends, for a direct reply [B-89]', async (t) => {
    const testEngine = await openTestEngine(t, () => reply('Hi'))
    const items = await (await testEngine.stream('hello')).rest()
    assert.equal(items.length, 1)
    const [only] = items
    assert.ok(only !== undefined && 'message' in only.event)
    assert.equal(textOfMessage(only.event.message), 'Hi')
    assert.equal(only.final, true)
    assert.equal(only.seq, undefined, 'what is in no log has no place in it')
  })

  it('begins with the submitted task, then has only updates [B-89 B-93]', async (t) => {
    const testEngine = await openTestEngine(t, counter)
    const items = await (await testEngine.stream('3')).rest()
    const [first, ...rest] = items
    assert.ok(first !== undefined && 'task' in first.event)
    assert.equal(short(first.event.task.status.state), 'SUBMITTED')
    assert.equal(textOfMessage(first.event.task.history?.[0]), '3')
    assert.ok(rest.every(({ event }) => 'statusUpdate' in event || 'artifactUpdate' in event))
    assert.deepEqual(chunksOf(items), ['0 ', '1 ', '2 '])
    assert.deepEqual(statesOf(items), ['SUBMITTED', 'WORKING', 'COMPLETED'])
  })

  it('has the position in the log with each event, increasing', async (t) => {
    const testEngine = await openTestEngine(t, counter)
    const seqs = seqsOf(await (await testEngine.stream('3')).rest()) as number[]
    assert.deepEqual(
      seqs,
      [...seqs].sort((a, b) => a - b),
    )
    assert.equal(new Set(seqs).size, seqs.length)
  })

  it('ends with the task, and only its last event is final [B-90 B-97]', async (t) => {
    const testEngine = await openTestEngine(t, counter)
    assert.deepEqual(finalsOf(await (await testEngine.stream('5')).rest()), [-1])
  })

  it('ends with a question, and the question is final [B-91 B-97]', async (t) => {
    const testEngine = await openTestEngine(t, () => inputRequired('Which city?'))
    const items = await (await testEngine.stream('go')).rest()
    assert.deepEqual(statesOf(items), ['SUBMITTED', 'INPUT_REQUIRED'])
    assert.deepEqual(finalsOf(items), [-1])
  })

  it('stays open at a question if configured, and then only the end is final [B-91 B-97]', async (t) => {
    const testEngine = await openTestEngine(t, ({ text }) => (text === 'ask' ? inputRequired('Which?') : 'done'), {
      options: { keepOpenOnInputRequired: true },
    })
    const stream = await testEngine.stream('ask')
    const asked = await stream.through((item) => stateOfItem(item) === 'TASK_STATE_INPUT_REQUIRED')
    assert.deepEqual(finalsOf(asked), [])
    const first = asked[0]?.event
    assert.ok(first !== undefined && 'task' in first)
    await testEngine.task({ taskId: first.task.id, parts: [{ text: 'Rome' }] })
    const rest = await stream.rest()
    assert.deepEqual(statesOf(rest), ['WORKING', 'COMPLETED'])
    assert.deepEqual(finalsOf(rest), [-1])
  })

  it('stays open while the agent waits for credentials [B-92 B-156]', async (t) => {
    const testEngine = await openTestEngine(t, ({ text }) => (text === 'go' ? authRequired('Sign in') : 'done'))
    const stream = await testEngine.stream('go')
    const items = await stream.through((item) => stateOfItem(item) === 'TASK_STATE_AUTH_REQUIRED')
    const [first] = items
    assert.deepEqual(finalsOf(items), [])
    assert.ok(first !== undefined && 'task' in first.event)
    await testEngine.task({ taskId: first.event.task.id, parts: [{ text: 'token' }] })
    assert.deepEqual(statesOf(await stream.rest()), ['WORKING', 'COMPLETED'])
  })

  it('is one of many with the same events, and its end does not affect the others [B-94 B-103]', async (t) => {
    const { agent, say } = createPromptedAgent()
    const testEngine = await openTestEngine(t, agent)
    const own = await testEngine.stream('go')
    const [opened] = await own.through((item) => stateOfItem(item) === 'TASK_STATE_WORKING')
    assert.ok(opened !== undefined && 'task' in opened.event)
    const { id } = opened.event.task
    const others = await Promise.all([testEngine.subscribe(id), testEngine.subscribe(id), testEngine.subscribe(id)])
    for (const other of others) await other.next()
    say('a', 'b')
    await others[0]?.through(isChunk)
    await others[0]?.close()
    await own.close()
    say('c', 'end')
    const [, second = [], third = []] = await Promise.all(others.map((other) => other.rest()))
    assert.deepEqual(chunksOf(second), ['a', 'b', 'c'])
    assert.deepEqual(seqsOf(second), seqsOf(third))
    assert.equal(short((await testEngine.get(id)).status.state), 'COMPLETED')
  })

  it('gets its events also when the consumer of another throws [B-103]', async (t) => {
    const { agent, say } = createPromptedAgent()
    const testEngine = await openTestEngine(t, agent)
    const own = await testEngine.stream('go')
    const [opened] = await own.through((item) => stateOfItem(item) === 'TASK_STATE_WORKING')
    assert.ok(opened !== undefined && 'task' in opened.event)
    const { id } = opened.event.task
    const called: number[] = []
    const errors: unknown[] = []
    const queue = queueMicrotask
    t.mock.method(globalThis, 'queueMicrotask', (run: () => void) =>
      queue(() => {
        try {
          run()
        } catch (error) {
          errors.push(error)
        }
      }),
    )
    for (const place of [1, 2, 3]) {
      const stream = await testEngine.engine.subscribe({ id }, aliceContext, 'refuse')
      const reader = toPollable(stream[Symbol.asyncIterator]())
      const ready = (): void => {
        if (called.push(place) === 1) throw new Error('thrown')
      }
      while (reader.poll(ready) !== undefined);
    }
    say('a')
    await own.through(isChunk)
    assert.deepEqual(called, [1, 2, 3])
    assert.deepEqual(errors, [new Error('thrown')])
  })

  it('releases the task when its reader leaves, also while it waits [B-103]', async (t) => {
    const { agent, say } = createPromptedAgent()
    const testEngine = await openTestEngine(t, agent)
    const stream = await testEngine.stream('go')
    const items = await stream.through((item) => stateOfItem(item) === 'TASK_STATE_WORKING')
    const waiting = stream.rest()
    await stream.close()
    assert.deepEqual(await waiting, [])
    say('end')
    const [first] = items
    assert.ok(first !== undefined && 'task' in first.event)
    await testEngine.reaches(first.event.task.id, 'TASK_STATE_COMPLETED')
  })

  it('neither slows down the task nor loses events when its reader is slow [B-95]', async (t) => {
    const testEngine = await openTestEngine(t, counter)
    const stream = await testEngine.stream('5000')
    const first = await stream.next()
    assert.ok(first !== undefined && 'task' in first.event)
    await testEngine.reaches(first.event.task.id, 'TASK_STATE_COMPLETED')
    const rest = await stream.rest()
    assert.equal(chunksOf(rest).join(''), Array.from({ length: 5_000 }, (_, word) => `${word} `).join(''))
    assert.deepEqual(finalsOf(rest), [-1])
  })

  it('of a follow-up begins with the task, including the new message [B-102]', async (t) => {
    const testEngine = await openTestEngine(t, ({ text }) => (text === 'ask' ? inputRequired('Which?') : `to ${text}`))
    const { id } = await testEngine.task('ask')
    const items = await (await testEngine.stream({ taskId: id, parts: [{ text: 'Rome' }] })).rest()
    const [first] = items
    assert.ok(first !== undefined && 'task' in first.event)
    assert.deepEqual(first.event.task.history?.map(textOfMessage), ['ask', 'Which?', 'Rome'])
    assert.deepEqual(chunksOf(items), ['to Rome'])
    assert.equal(statesOf(items).at(-1), 'COMPLETED')
    assert.deepEqual(finalsOf(items), [-1])
  })

  it('of a message that waits its turn does not end when the turn before it asks for input', async (t) => {
    const gate = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, async ({ text }) => {
      if (text !== 'first') return `did ${text}`
      await gate.promise
      return inputRequired('What now?')
    })
    const { id } = await testEngine.start('first')
    const stream = await testEngine.stream({ taskId: id, parts: [{ text: 'second' }] })
    gate.resolve()
    const items = await stream.rest()
    assert.deepEqual(chunksOf(items), ['did second'])
    assert.deepEqual(statesOf(items).slice(-1), ['COMPLETED'])
    const said = items.flatMap(({ event }) =>
      'statusUpdate' in event ? [textOfMessage(event.statusUpdate.status.message)] : [],
    )
    assert.ok(said.includes('What now?'), 'and the question is not lost')
  })

  it('is refused like a send, for the same reasons [B-104]', async (t) => {
    const testEngine = await openTestEngine(t, counter, { entry: { inputModes: ['text/plain'] } })
    for (const wrong of [
      { role: 'ROLE_AGENT' as const },
      { contextId: 'a b' },
      { parts: [{ data: 1 }] },
      { taskId: 'no' },
    ]) {
      const refusal = await testEngine.send(wrong).then(
        () => 'none',
        (reason: { code: string }) => reason.code,
      )
      await assert.rejects(testEngine.stream(wrong), { code: refusal })
    }
  })
})

describe('a subscription', () => {
  it('begins with the whole current task, then has later events, each once [B-105]', async (t) => {
    const { agent, say } = createPromptedAgent()
    const testEngine = await openTestEngine(t, agent)
    const own = await testEngine.stream('go')
    say('a', 'b')
    const [opened] = await own.through((item) => chunksOf([item])[0] === 'b')
    assert.ok(opened !== undefined && 'task' in opened.event)
    const watch = await testEngine.subscribe(opened.event.task.id)
    say('c', 'end')
    const [first, ...rest] = await watch.rest()
    assert.ok(first !== undefined && 'task' in first.event)
    assert.equal(short(first.event.task.status.state), 'WORKING')
    assert.equal(artifactText(first.event.task), 'ab')
    assert.deepEqual(historyOf(first.event.task), ['go'])
    assert.deepEqual(rest, await own.rest())
  })

  it('begins with the same object for all its readers, so that its text is shared', async (t) => {
    const testEngine = await openTestEngine(t, () => inputRequired('Which?'))
    const { id } = await testEngine.task('go')
    const [one, other] = [await testEngine.subscribe(id), await testEngine.subscribe(id)]
    assert.equal((await one.next())?.event, (await other.next())?.event)
  })

  it('to a finished task is refused, or gets the task once [B-106 B-108]', async (t) => {
    const testEngine = await openTestEngine(t, counter)
    const done = await testEngine.task('1')
    await assert.rejects(testEngine.subscribe(done.id), { code: 'UNSUPPORTED_OPERATION' })
    const items = await (await testEngine.subscribe(done.id, {}, 'replay')).rest()
    assert.deepEqual(
      items.map(({ event }) => event),
      [{ task: done }],
    )
    assert.deepEqual(finalsOf(items), [-1])
  })

  it('to a task that waits for input stays open until it ends [B-107]', async (t) => {
    const testEngine = await openTestEngine(t, ({ text }) => (text === 'ask' ? inputRequired('Which?') : 'done'))
    const { id } = await testEngine.task('ask')
    const watch = await testEngine.subscribe(id)
    const first = await watch.next()
    assert.equal(first?.final, false)
    await testEngine.task({ taskId: id, parts: [{ text: 'Rome' }] })
    assert.deepEqual(statesOf(await watch.rest()), ['WORKING', 'COMPLETED'])
  })

  it('misses and repeats nothing on a slow store, whenever it begins [B-105]', async (t) => {
    // 60 chunks at 1 ms each against a store that takes 10 ms to read and to write.
    const slow = faultyStore(memoryStore(), {
      before: (method) => (method === 'tasks.append' || method === 'tasks.read' ? sleep(4) : undefined),
      after: (method) => (method === 'tasks.append' || method === 'tasks.read' ? sleep(6) : undefined),
    })
    const testEngine = await openTestEngine(
      t,
      async function* () {
        for (let chunk = 0; chunk < 60; chunk += 1) {
          yield `${chunk},`
          await sleep(1)
        }
      },
      { store: slow },
    )
    const expected = Array.from({ length: 60 }, (_, chunk) => `${chunk},`).join('')
    const { id } = await testEngine.start('go')
    const readers: Promise<string>[] = []
    for (let reader = 0; reader < 12; reader += 1) {
      readers.push(readWhole())
      await sleep(5)
    }
    for (const text of await Promise.all(readers)) assert.equal(text, expected)

    async function readWhole(): Promise<string> {
      const items = await (await testEngine.subscribe(id)).rest()
      const first = items[0]?.event
      assert.ok(first !== undefined && 'task' in first)
      assert.equal(statesOf(items).at(-1), 'COMPLETED')
      const parts = first.task.artifacts?.flatMap(({ parts }) => parts) ?? []
      return [...parts.map((part) => ('text' in part ? part.text : '')), ...chunksOf(items)].join('')
    }
  })
})

describe('a cursor', () => {
  it('returns exactly the visible events after it, from any position, during and after the task [B-109]', async (t) => {
    const { agent, say } = createPromptedAgent()
    const testEngine = await openTestEngine(t, agent)
    const stream = await testEngine.stream('go')
    say('a', 'b', 'c')
    const early = await stream.through((item) => chunksOf([item])[0] === 'c')
    const first = early[0]?.event
    assert.ok(first !== undefined && 'task' in first)
    const { id } = first.task
    const running = await Promise.all(early.map(({ seq }) => testEngine.subscribe(id, { lastEventId: seq as number })))
    say('d', 'end')
    const whole = [...early, ...(await stream.rest())]
    for (const [index, reader] of running.entries()) assert.deepEqual(await reader.rest(), whole.slice(index + 1))
    for (const [index, { seq }] of whole.entries()) {
      const reader = await testEngine.subscribe(id, { lastEventId: seq as number })
      assert.deepEqual(await reader.rest(), whole.slice(index + 1))
    }
    const fromTheStart = await (await testEngine.subscribe(id, { lastEventId: 0 })).rest()
    assert.deepEqual(fromTheStart.slice(1), whole.slice(1))
    assert.deepEqual(statesOf(fromTheStart.slice(0, 1)), ['SUBMITTED'])
    assert.ok(fromTheStart[0] !== undefined && 'statusUpdate' in fromTheStart[0].event, 'and no snapshot first')
  })

  it('is valid after the task was read from the store again [B-109]', async (t) => {
    const store = memoryStore()
    const first = await openTestEngine(t, counter, { store })
    const whole = await (await first.stream('20')).rest()
    const opened = whole[0]?.event
    assert.ok(opened !== undefined && 'task' in opened)
    const second = await openTestEngine(t, counter, { store })
    for (const [index, { seq }] of whole.entries()) {
      const reader = await second.subscribe(opened.task.id, { lastEventId: seq as number })
      assert.deepEqual(await reader.rest(), whole.slice(index + 1))
    }
  })

  it('skips any number of internal records [B-109]', async (t) => {
    const agent: Agent = async function* ({ checkpoint }: Turn) {
      await Promise.all(Array.from({ length: 2_500 }, (_, step) => checkpoint(step)))
      yield 'done'
    }
    const store = memoryStore()
    const whole = await (await (await openTestEngine(t, agent, { store })).stream('go')).rest()
    const opened = whole[0]?.event
    assert.ok(opened !== undefined && 'task' in opened)
    const again = await openTestEngine(t, agent, { store })
    const reader = await again.subscribe(opened.task.id, { lastEventId: whole[1]?.seq as number })
    assert.deepEqual(await reader.rest(), whole.slice(2))
  })

  it('resumes a repeated streaming send [B-109 B-163]', async (t) => {
    const testEngine = await openTestEngine(t, counter)
    const message = { messageId: 'm1', parts: [{ text: '4' }] }
    const whole = await (await testEngine.stream(message)).rest()
    const third = whole[2]
    const again = await (await testEngine.stream(message, { as: { lastEventId: third?.seq } })).rest()
    assert.deepEqual(again, whole.slice(3))
  })

  it('does not stop at a question that was answered earlier [B-91 B-109]', async (t) => {
    const testEngine = await openTestEngine(t, ({ text }) => (text === 'ask' ? inputRequired('Which?') : 'done'))
    const { id } = await testEngine.task('ask')
    const before = await (await testEngine.subscribe(id, { lastEventId: 0 })).rest()
    assert.deepEqual(statesOf(before), ['SUBMITTED', 'INPUT_REQUIRED'], 'while it stands, it ends the stream')
    await testEngine.task({ taskId: id, parts: [{ text: 'Rome' }] })
    const items = await (await testEngine.subscribe(id, { lastEventId: 0 })).rest()
    assert.deepEqual(statesOf(items), ['SUBMITTED', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED'])
    assert.deepEqual(finalsOf(items), [-1])
  })

  it('that precedes the log gets a snapshot that reports the gap [B-109]', async (t) => {
    const testEngine = await openTestEngine(t, ({ text }) => 'x'.repeat(Number(text)))
    const done = await testEngine.task('100000')
    assert.equal(await testEngine.store.prune({ logBefore: Date.now() + 1_000, batch: 10 }), 1)
    const items = await (await testEngine.subscribe(done.id, { lastEventId: 3 })).rest()
    assert.deepEqual(
      items.map(({ event }) => event),
      [{ task: done }],
    )
    assert.equal(items[0]?.gap, true)
    assert.equal(items[0]?.final, true)
    const atTheEnd = await testEngine.subscribe(done.id, { lastEventId: items[0]?.seq as number })
    assert.deepEqual(await atTheEnd.rest(), [], 'and one that has seen everything gets nothing')
  })
})
