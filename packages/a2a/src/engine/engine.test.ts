/** The operations on one task: its lifecycle, its ids, its visibility, and how long a send waits. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, Turn } from '../agents/agent.ts'
import { A2AError } from '../model/error.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Append } from '../stores/store.ts'
import { faultyStore } from '../testing/fixtures/faulty-store.ts'
import { artifact, fail, inputRequired, reject, reply, status } from '../agents/reports.ts'
import type { CallContext } from './contract.ts'
import {
  aliceContext,
  artifactText,
  eventually,
  historyOf,
  openTestEngine,
  textOfMessage,
  short,
  statesOf,
} from '../testing/fixtures/test-engine.ts'

const echo: Agent = ({ text }) => `Hello, ${text}!`
const bob: Partial<CallContext> = { caller: { id: 'bob' } }
/** Ends as the message says: one way for each terminal state. */
const obedient: Agent = async function* ({ text, signal }: Turn) {
  if (text === 'fail') yield fail('no')
  else if (text === 'reject') yield reject('not mine')
  else if (text === 'ask') yield inputRequired('Which city?')
  else if (text === 'wait') await new Promise((resolve) => signal.addEventListener('abort', resolve))
  else yield `did ${text}`
}

describe('a task', () => {
  it('is shown to admins with the number of its last event, also while the store is ahead of the memory', async (t) => {
    const written = Promise.withResolvers<void>()
    const resume = Promise.withResolvers<void>()
    const hasChunk = (given: readonly unknown[]): boolean =>
      (given[1] as Append).records.some(({ body }) => body.type === 'artifact')
    const store = faultyStore(memoryStore(), {
      async after(method, given) {
        if (method !== 'tasks.append' || !hasChunk(given)) return
        written.resolve()
        await resume.promise
      },
    })
    const begin = Promise.withResolvers<void>()
    const slow: Agent = async () => {
      await begin.promise
      return 'done'
    }
    const testEngine = await openTestEngine(t, slow, { store })
    const { id } = await testEngine.start('Bob')
    begin.resolve()
    await written.promise
    const before = await testEngine.engine.tasks.get(id)
    const stored = await store.tasks.load(id)
    assert.ok(before !== undefined && stored !== undefined)
    assert.equal(before.task.artifacts, undefined)
    assert.ok(before.head < stored.head, `${before.head} is not before ${stored.head}`)
    resume.resolve()
    const done = await testEngine.reaches(id, 'TASK_STATE_COMPLETED')
    const after = await testEngine.engine.tasks.get(id)
    assert.deepEqual(after, { task: done, head: (await store.tasks.load(id))?.head })
  })

  it('accepts no more messages after its end, in any terminal state [B-43]', async (t) => {
    const testEngine = await openTestEngine(t, obedient)
    const canceled = await testEngine.start('wait')
    await testEngine.cancel(canceled.id)
    const ended = [
      await testEngine.task('go'),
      await testEngine.task('fail'),
      await testEngine.task('reject'),
      canceled,
    ]
    assert.deepEqual(
      ended.slice(0, 3).map((task) => short(task.status.state)),
      ['COMPLETED', 'FAILED', 'REJECTED'],
    )
    for (const { id } of ended) {
      const before = await testEngine.get(id)
      await assert.rejects(testEngine.send({ taskId: id }), { code: 'UNSUPPORTED_OPERATION' })
      await assert.rejects(testEngine.stream({ taskId: id }), { code: 'UNSUPPORTED_OPERATION' })
      assert.deepEqual(await testEngine.get(id), before)
    }
  })

  it('continues with the next message while it is open [B-43 B-45]', async (t) => {
    const testEngine = await openTestEngine(t, obedient)
    const asked = await testEngine.task('ask')
    const done = await testEngine.task({ parts: [{ text: 'Rome' }], taskId: asked.id })
    assert.equal(done.id, asked.id)
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.deepEqual(historyOf(done), ['ask', 'Which city?', 'Rome'])
    assert.equal(artifactText(done, 'answer-2'), 'did Rome')
  })

  it('has the time of its message as its start, in its log and in its row, however late its agent reports', async (t) => {
    let now = 1_000
    const thinker: Agent = () => {
      now = 5_000
      return 'done'
    }
    const testEngine = await openTestEngine(t, thinker, { now: () => now })
    const { id } = await testEngine.task('hi')
    const row = await testEngine.store.tasks.load(id)
    const times = (await testEngine.store.tasks.read(id, 0, 100)).map(({ at }) => at)
    assert.deepEqual([row?.createdAt, row?.statusAt], [1_000, 5_000])
    assert.deepEqual([times[0], times.at(-1)], [1_000, 5_000])
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
  })

  it('keeps results in artifacts, and messages for communication [B-46]', async (t) => {
    const testEngine = await openTestEngine(t, echo)
    const task = await testEngine.task('Bob')
    assert.equal(artifactText(task), 'Hello, Bob!')
    assert.equal(task.status.message, undefined)
    assert.deepEqual(historyOf(task), ['Bob'])
  })

  it('stores messages with the ids of their task and context [B-47]', async (t) => {
    const testEngine = await openTestEngine(t, obedient)
    const asked = await testEngine.task('ask')
    const task = await testEngine.task({ parts: [{ text: 'Rome' }], taskId: asked.id })
    for (const message of task.history ?? []) {
      assert.equal(message.taskId, task.id)
      assert.equal(message.contextId, task.contextId)
    }
  })

  it('has a UTC timestamp with milliseconds for each status, which never decreases [B-48 J-3]', async (t) => {
    let now = Date.UTC(2030, 0, 1, 12)
    const testEngine = await openTestEngine(
      t,
      async function* () {
        for (let step = 0; step < 3; step += 1) {
          yield status(`step ${step}`)
          // The operator sets the clock back.
          now -= 3_600_000
          await new Promise((resolve) => setTimeout(resolve, 2))
        }
      },
      { now: () => now, options: { turnTimeoutMs: Infinity } },
    )
    const items = await (await testEngine.stream('go')).rest()
    const times = items.flatMap(({ event }) =>
      'statusUpdate' in event ? [event.statusUpdate.status.timestamp ?? ''] : [],
    )
    assert.ok(times.length >= 4)
    for (const time of times) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(times, [...times].sort())
  })

  it('does not go back in time after it was read from the store again [B-48]', async (t) => {
    let now = Date.UTC(2030, 0, 1, 12)
    const first = await openTestEngine(t, obedient, { now: () => now })
    const asked = await first.task('ask')
    now -= 86_400_000
    const second = await openTestEngine(t, obedient, { now: () => now, store: first.store })
    const done = await second.task({ taskId: asked.id, parts: [{ text: 'Rome' }] })
    assert.ok((done.status.timestamp ?? '') >= (asked.status.timestamp ?? 'x'))
  })

  it('fails with a message of the agent when the agent does, in the log and on every stream [B-50]', async (t) => {
    const testEngine = await openTestEngine(t, async function* () {
      yield 'half an '
      throw new Error('password is hunter2')
    })
    const items = await (await testEngine.stream('go')).rest()
    assert.deepEqual(statesOf(items), ['SUBMITTED', 'WORKING', 'FAILED'])
    const last = items.at(-1)?.event
    assert.ok(last !== undefined && 'statusUpdate' in last)
    assert.equal(textOfMessage(last.statusUpdate.status.message), 'The agent failed')
    assert.equal(last.statusUpdate.status.message?.role, 'ROLE_AGENT')
    assert.deepEqual((await testEngine.get(last.statusUpdate.taskId)).status, last.statusUpdate.status)
    assert.equal(JSON.stringify(items).includes('hunter2'), false)
    const cause = testEngine.lines.find(({ message }) => message === 'agent failed')?.fields?.['cause']
    assert.match(String(cause), /hunter2/)
  })

  it('that is canceled has not failed, even if the agent throws the reason of its signal [B-110]', async (t) => {
    const throws: Agent[] = [
      ({ signal }) => sleep(10_000, undefined, { signal }),
      ({ signal }) =>
        new Promise((_, refuse) => signal.addEventListener('abort', () => refuse(signal.reason as Error))),
    ]
    for (const agent of throws) {
      const testEngine = await openTestEngine(t, agent)
      const { id } = await testEngine.start('go')
      assert.equal(short((await testEngine.cancel(id)).status.state), 'CANCELED')
      await eventually(() => testEngine.lines.some(({ message }) => message === 'agent stopped'), 'the agent to stop')
      assert.deepEqual(
        testEngine.lines.filter(({ level }) => level === 'error'),
        [],
      )
    }
  })

  it('is REJECTED when the agent refuses, at once or later [B-51]', async (t) => {
    const testEngine = await openTestEngine(t, obedient)
    const [atOnce, asked] = [await testEngine.task('reject'), await testEngine.task('ask')]
    assert.equal(short(atOnce.status.state), 'REJECTED')
    assert.equal(textOfMessage(atOnce.status.message), 'not mine')
    const later = await testEngine.task({ taskId: asked.id, parts: [{ text: 'reject' }] })
    assert.equal(short(later.status.state), 'REJECTED')
  })
})

describe('ids', () => {
  it('are created by the server, a new one for each task [B-53]', async (t) => {
    const testEngine = await openTestEngine(t, echo)
    const tasks = await Promise.all(Array.from({ length: 50 }, () => testEngine.task('hi')))
    assert.equal(new Set(tasks.map(({ id }) => id)).size, 50)
  })

  it('that name no task are TASK_NOT_FOUND, and create none [B-53 B-54]', async (t) => {
    const testEngine = await openTestEngine(t, echo)
    await assert.rejects(testEngine.send({ taskId: 'my-own-id' }), { code: 'TASK_NOT_FOUND' })
    await assert.rejects(testEngine.stream({ taskId: 'my-own-id' }), { code: 'TASK_NOT_FOUND' })
    await assert.rejects(testEngine.get('my-own-id'), { code: 'TASK_NOT_FOUND' })
    await assert.rejects(testEngine.cancel('my-own-id'), { code: 'TASK_NOT_FOUND' })
    await assert.rejects(testEngine.subscribe('my-own-id'), { code: 'TASK_NOT_FOUND' })
    assert.equal(await testEngine.store.tasks.load('my-own-id'), undefined)
  })

  it('of a context are created if the client gives none, and kept otherwise [B-55 B-56]', async (t) => {
    const testEngine = await openTestEngine(t, echo)
    assert.ok((await testEngine.task('hi')).contextId)
    const given = await testEngine.task({ contextId: 'my:conversation_1.a-b' })
    assert.equal(given.contextId, 'my:conversation_1.a-b')
    assert.equal(given.history?.[0]?.contextId, 'my:conversation_1.a-b')
  })

  it('of a context that are invalid are refused and never replaced [B-56]', async (t) => {
    const testEngine = await openTestEngine(t, echo)
    for (const contextId of ['', 'a b', 'ü', 'a/b', 'x'.repeat(257)]) {
      await assert.rejects(testEngine.send({ contextId }), { code: 'CONTEXT_REJECTED' })
    }
  })

  it('of a context follow from the task, and must match it [B-57 B-58]', async (t) => {
    const testEngine = await openTestEngine(t, obedient)
    const asked = await testEngine.task('ask')
    await assert.rejects(
      testEngine.send({ taskId: asked.id, contextId: 'another' }),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'INVALID_PARAMS')
        assert.match(error.message, /message\.contextId/)
        return true
      },
    )
    const done = await testEngine.task({ taskId: asked.id, parts: [{ text: 'Rome' }] })
    assert.equal(done.contextId, asked.contextId)
    assert.equal(done.history?.at(-1)?.contextId, asked.contextId)
  })

  it('are in all output of agents: always the context, the task only if there is one [B-61]', async (t) => {
    const testEngine = await openTestEngine(t, ({ text }) => (text === 'reply' ? reply('Hi') : inputRequired('What?')))
    const asked = await testEngine.task('go')
    assert.equal(asked.status.message?.taskId, asked.id)
    assert.equal(asked.status.message?.contextId, asked.contextId)
    const answer = await testEngine.send({ parts: [{ text: 'reply' }], contextId: 'talk' })
    assert.ok('message' in answer)
    assert.equal(answer.message.contextId, 'talk')
    assert.equal('taskId' in answer.message, false)
    assert.equal(answer.message.role, 'ROLE_AGENT')
  })
})

describe('the visibility of a task', () => {
  it('is limited to its caller; other callers get the same error as for a missing task [B-153 B-160]', async (t) => {
    const testEngine = await openTestEngine(t, obedient)
    const { id } = await testEngine.task('ask')
    const others: readonly Partial<CallContext>[] = [bob, { tenant: 'acme' }, { agent: 'another' }]
    for (const other of others) {
      const known = [
        testEngine.get(id, other),
        testEngine.cancel(id, other),
        testEngine.subscribe(id, other),
        testEngine.send({ taskId: id }, { as: other }),
      ]
      const unknown = await testEngine.get('nothing', other).catch((reason: Error) => reason.message)
      for (const call of known) await assert.rejects(call, { code: 'TASK_NOT_FOUND', message: unknown })
    }
    assert.equal(short((await testEngine.get(id)).status.state), 'INPUT_REQUIRED')
  })

  it('does not extend to an agent that is not served: it is unavailable', async (t) => {
    const testEngine = await openTestEngine(t, echo, { lookUp: (name) => (name === 'agent' ? echo : undefined) })
    await assert.rejects(testEngine.send('hi', { as: { agent: 'gone' } }), { code: 'AGENT_UNAVAILABLE' })
  })
})

describe('a send', () => {
  it('returns a Message for a direct reply, and otherwise the task [B-49]', async (t) => {
    const testEngine = await openTestEngine(t, ({ text }) => (text === 'ask' ? inputRequired('?') : reply('Hi')))
    const direct = await testEngine.send('hello')
    assert.ok('message' in direct)
    assert.equal(textOfMessage(direct.message), 'Hi')
    assert.equal(
      (await testEngine.store.tasks.list({ tenant: '', agent: 'agent', owner: 'alice', limit: 10 })).total,
      0,
    )
    const asked = await testEngine.task('ask')
    const done = await testEngine.task({ taskId: asked.id, parts: [{ text: 'hello' }] })
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.equal(textOfMessage(done.status.message), 'Hi')
  })

  it('waits for the end or for a question, with or without a configuration, and returns everything [B-63]', async (t) => {
    const testEngine = await openTestEngine(t, async function* ({ text }: Turn) {
      yield artifact('report', { text: 'part one', last: true })
      await new Promise((resolve) => setTimeout(resolve, 30))
      yield text === 'ask' ? inputRequired('?') : artifact('extra', { data: { n: 1 }, last: true })
    })
    const done = await testEngine.task('go', { returnImmediately: false })
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.deepEqual(
      done.artifacts?.map(({ artifactId }) => artifactId),
      ['report', 'extra'],
    )
    assert.equal(short((await testEngine.task('ask')).status.state), 'INPUT_REQUIRED')
  })

  it('that does not wait returns at once, and the work continues [B-64]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, async () => {
      await gate.promise
      return 'done'
    })
    const started = await testEngine.start('go')
    assert.ok(['SUBMITTED', 'WORKING'].includes(short(started.status.state)))
    assert.equal(started.artifacts, undefined)
    gate.resolve()
    assert.equal(artifactText(await testEngine.reaches(started.id, 'TASK_STATE_COMPLETED')), 'done')
  })

  it('whose agent gets invalid input is -32006 before a task exists, and a failed task afterwards [S1-9]', async (t) => {
    const rubbish = new A2AError('INVALID_AGENT_RESPONSE', 'The model returned a response that cannot be read')
    const testEngine = await openTestEngine(t, async function* ({ text }: Turn) {
      if (text === 'late') yield status('reading')
      throw rubbish
    })
    await assert.rejects(testEngine.send({ parts: [{ text: 'at once' }] }), rubbish)
    const failed = await testEngine.task('late')
    assert.equal(short(failed.status.state), 'FAILED')
    assert.equal(textOfMessage(failed.status.message), rubbish.message)
  })

  it('that does not wait makes no difference to a stream [B-65]', async (t) => {
    const testEngine = await openTestEngine(t, echo)
    const items = await (await testEngine.stream('Bob', { returnImmediately: true })).rest()
    assert.deepEqual(statesOf(items), ['SUBMITTED', 'WORKING', 'COMPLETED'])
  })

  it('waits up to its limit, and then returns the current task [B-67]', async (t) => {
    const testEngine = await openTestEngine(t, obedient, { limits: { waitMs: 30 } })
    const task = await testEngine.task('wait')
    assert.equal(short(task.status.state), 'WORKING')
  })

  it('to a busy task waits until its own turn has ended [B-63]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, async ({ text }) => {
      if (text === 'first') await gate.promise
      return `did ${text}`
    })
    const { id } = await testEngine.start('first')
    const second = testEngine.task({ taskId: id, parts: [{ text: 'second' }] })
    await eventually(async () => (await testEngine.get(id)).history?.length === 2)
    gate.resolve()
    const done = await second
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.equal(artifactText(done, 'answer-2'), 'did second')
  })

  it('returns the requested history in every operation, and stores all of it [B-73 B-76]', async (t) => {
    const testEngine = await openTestEngine(t, obedient)
    const { id } = await testEngine.task('ask')
    const answer = { taskId: id, parts: [{ text: 'Rome' }] }
    const sent = await testEngine.task(answer, { historyLength: 2 })
    assert.deepEqual(historyOf(sent), ['Which city?', 'Rome'])
    assert.equal('history' in (await testEngine.task('go', { historyLength: 0 })), false)
    const got = await testEngine.engine.getTask({ id, historyLength: 1 }, aliceContext)
    assert.deepEqual(historyOf(got), ['Rome'])
    assert.equal(artifactText(got, 'answer-2'), 'did Rome')
    assert.deepEqual(historyOf(await testEngine.get(id)), ['ask', 'Which city?', 'Rome'])
    const first = await (await testEngine.stream('go', { historyLength: 0 })).next()
    assert.ok(first !== undefined && 'task' in first.event)
    assert.equal('history' in first.event.task, false)
  })

  it('is refused when its caller has too many open tasks, also for concurrent sends', async (t) => {
    const testEngine = await openTestEngine(t, obedient, { limits: { tasksPerCaller: 3 } })
    const sent = await Promise.allSettled(Array.from({ length: 8 }, () => testEngine.start('wait')))
    const refused = sent.flatMap((result) => (result.status === 'rejected' ? [result.reason as { code: string }] : []))
    assert.equal(refused.length, 5)
    assert.deepEqual(new Set(refused.map(({ code }) => code)), new Set(['RATE_LIMITED']))
    assert.ok(await testEngine.task('go', { as: bob }), 'another caller has a separate quota')
    const key = { caller: { id: 'key:1', limitedAs: 'alice' } }
    await assert.rejects(testEngine.task('go', { as: key }), { code: 'RATE_LIMITED' })
    const [open] = sent.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    await testEngine.cancel(open?.id ?? '')
    assert.equal(short((await testEngine.task('go')).status.state), 'COMPLETED')
  })
})
