/** A store that does not respond for a while: callers get an error, no acknowledged write is lost, and the work continues. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, Turn } from '../../agents/agent.ts'
import { inputRequired, status } from '../../agents/reports.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import {
  aliceContext,
  artifactText,
  chunksOf,
  eventually,
  historyOf,
  openTestEngine,
  short,
  statesOf,
  type TestEngineOptions,
} from '../../testing/fixtures/test-engine.ts'
import { faultyStore, type StoreMethod } from '../../testing/fixtures/faulty-store.ts'

/** An engine whose store can fail and recover: before an operation, or just before its response. */
async function engineWithOutages(t: TestContext, agent: Agent, options: TestEngineOptions = {}) {
  let outage: 'before' | 'after' | undefined
  let concerns: (method: StoreMethod) => boolean = () => true
  const fail = (when: 'before' | 'after') => (method: StoreMethod) => {
    if (outage === when && concerns(method)) throw new Error('disk I/O error in /var/lib')
  }
  const store = faultyStore(memoryStore(), { before: fail('before'), after: fail('after') })
  const testEngine = await openTestEngine(t, agent, { ...options, store })
  return {
    testEngine,
    goes(when: 'before' | 'after' = 'before', which: (method: StoreMethod) => boolean = () => true) {
      outage = when
      concerns = which
    },
    returns: () => void (outage = undefined),
  }
}

/** Reports when it is released; when run again, it reports the same. */
function prompted(resume: 'fail' | 'rerun' = 'rerun') {
  const words = new Map<string, PromiseWithResolvers<void>>()
  const gate = (word: string): PromiseWithResolvers<void> => {
    const known = words.get(word) ?? Promise.withResolvers<void>()
    words.set(word, known)
    return known
  }
  const agent: Agent = {
    resume,
    async *run({ text }: Turn) {
      yield status('here')
      for (const word of text.split(' ')) {
        await gate(word).promise
        yield `${word} `
      }
    },
  }
  return { agent, say: (word: string) => gate(word).resolve() }
}

const unavailable = { code: 'UNAVAILABLE' }

describe('while the store does not respond', () => {
  it('every operation is UNAVAILABLE and retryable, without the cause', async (t) => {
    const { testEngine, goes, returns } = await engineWithOutages(t, ({ text }) =>
      text === 'ask' ? inputRequired('?') : 'done',
    )
    const { id } = await testEngine.task('ask')
    goes()
    const calls: readonly (() => Promise<unknown>)[] = [
      () => testEngine.send('hi'),
      () => testEngine.start('hi'),
      () => testEngine.stream('hi'),
      () => testEngine.send({ taskId: id }),
      () => testEngine.get('unknown'),
      () => testEngine.cancel(id),
      () => testEngine.engine.listTasks({}, aliceContext),
      () => testEngine.subscribe(id, { lastEventId: 1 }),
    ]
    for (const call of calls) {
      await assert.rejects(call, (reason: { code: string; retryable: boolean; message: string }) => {
        assert.equal(reason.code, 'UNAVAILABLE')
        assert.equal(reason.retryable, true)
        assert.equal(reason.message.includes('disk'), false)
        return true
      })
    }
    returns()
    assert.equal(short((await testEngine.task({ taskId: id, parts: [{ text: 'go' }] })).status.state), 'COMPLETED')
  })

  it('nothing is sent before it is durable, and nothing sent is lost', async (t) => {
    const { agent, say } = prompted()
    const { testEngine, goes, returns } = await engineWithOutages(t, agent)
    const stream = await testEngine.stream({ messageId: 'm1', parts: [{ text: 'a b c' }] })
    say('a')
    const sent = await stream.through((item) => chunksOf([item])[0] === 'a ')
    goes()
    say('b')
    await assert.rejects(stream.rest(), unavailable)
    returns()
    say('c')
    const first = sent[0]?.event
    assert.ok(first !== undefined && 'task' in first)
    const { id } = first.task
    const done = await testEngine.reaches(id, 'TASK_STATE_COMPLETED')
    assert.equal(artifactText(done), 'a b c ')
    const lastEventId = sent.at(-1)?.seq as number
    const rest = await (await testEngine.subscribe(id, { lastEventId })).rest()
    const whole = await (await testEngine.subscribe(id, { lastEventId: 0 })).rest()
    assert.deepEqual(whole.slice(1), [...sent.slice(1), ...rest], 'the events sent before are those of the log')
    assert.equal(statesOf(rest).at(-1), 'COMPLETED')
  })
})

describe('when the store responds again', () => {
  it('a repeatable agent continues, any other has failed', async (t) => {
    for (const resume of ['rerun', 'fail'] as const) {
      const { agent, say } = prompted(resume)
      const { testEngine, goes, returns } = await engineWithOutages(t, agent)
      const { id } = await testEngine.start('a')
      const blocked = testEngine.task({ messageId: 'm2', taskId: id, parts: [{ text: 'a' }] })
      await eventually(async () => (await testEngine.get(id)).history?.length === 2)
      goes()
      say('a')
      await assert.rejects(blocked, unavailable)
      await sleep(30)
      returns()
      const ended = await testEngine.reaches(id, resume === 'rerun' ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_FAILED')
      assert.equal(artifactText(ended, 'answer-2'), resume === 'rerun' ? 'a ' : undefined)
    }
  })

  it('a task is resumed even if reading it failed at first', async (t) => {
    const { agent, say } = prompted()
    const { testEngine, goes, returns } = await engineWithOutages(t, agent)
    const { id } = await testEngine.start('a')
    goes()
    say('a')
    await eventually(() => testEngine.lines.some(({ message }) => message === 'a task could not be written'))
    // The store recovers step by step: rows can be read, logs cannot.
    goes('before', (method) => method === 'tasks.read' || method === 'tasks.append')
    await eventually(() => testEngine.lines.some(({ message }) => message.includes('will be retried')))
    returns()
    assert.equal(artifactText(await testEngine.reaches(id, 'TASK_STATE_COMPLETED')), 'a ')
  })

  it('a refused send can be repeated and opens one task, whether it had been written or not [B-163]', async (t) => {
    for (const when of ['before', 'after'] as const) {
      const { testEngine, goes, returns } = await engineWithOutages(t, { resume: 'rerun', run: () => 'done' })
      const message = { messageId: 'm1' }
      goes(when, (method) => method === 'tasks.append')
      await assert.rejects(testEngine.send(message), unavailable)
      returns()
      const done = await testEngine.task(message)
      assert.equal(short(done.status.state), 'COMPLETED')
      assert.deepEqual(historyOf(done), ['hi'])
      assert.equal(
        (await testEngine.store.tasks.list({ tenant: '', agent: 'agent', owner: 'alice', limit: 10 })).total,
        1,
      )
    }
  })

  it('a task whose first append was written unnoticed is resumed, and run again if possible', async (t) => {
    const { agent, say } = prompted()
    const { testEngine, goes, returns } = await engineWithOutages(t, agent)
    const message = { messageId: 'm1', parts: [{ text: 'a' }] }
    goes('after', (method) => method === 'tasks.append')
    await assert.rejects(testEngine.send(message), unavailable)
    returns()
    const again = testEngine.task(message)
    say('a')
    const done = await again
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.equal((await testEngine.log(done.id)).filter(({ body }) => body.type === 'turn-started').length, 2)
  })

  it('a message to a released task does not replace the interrupted turn', async (t) => {
    const { agent, say } = prompted()
    const { testEngine, goes, returns } = await engineWithOutages(t, agent, { sweepMs: 1_000_000 })
    const { id } = await testEngine.start('a')
    goes()
    say('a')
    await eventually(() => testEngine.lines.some(({ message }) => message === 'a task could not be written'))
    returns()
    say('b')
    const done = await testEngine.task({ taskId: id, parts: [{ text: 'b' }] })
    assert.equal(artifactText(done), 'a ')
    assert.equal(artifactText(done, 'answer-2'), 'b ')
  })

  it('a task that a message brought back is not resumed twice', async (t) => {
    const { agent, say } = prompted()
    const { testEngine, goes, returns } = await engineWithOutages(t, agent, { sweepMs: 25 })
    const { id } = await testEngine.start('a z')
    goes()
    say('a')
    await eventually(() => testEngine.lines.some(({ message }) => message === 'a task could not be written'))
    returns()
    const more = testEngine.task({ taskId: id, parts: [{ text: 'b' }] })
    await sleep(60)
    say('z')
    say('b')
    assert.equal(artifactText(await more), 'a z ')
    assert.equal((await testEngine.log(id)).filter(({ body }) => body.type === 'turn-started').length, 3)
  })

  it('a refused follow-up can be sent again, and is delivered once [B-163]', async (t) => {
    for (const when of ['before', 'after'] as const) {
      const agent: Agent = ({ text }) => (text === 'go' ? inputRequired('Which?') : `to ${text}`)
      const { testEngine, goes, returns } = await engineWithOutages(t, agent)
      const { id } = await testEngine.task('go')
      const answer = { messageId: 'm2', taskId: id, parts: [{ text: 'Rome' }] }
      goes(when, (method) => method === 'tasks.append')
      await assert.rejects(testEngine.send(answer), unavailable)
      returns()
      const done = await testEngine.task(answer)
      assert.equal(short(done.status.state), 'COMPLETED', when)
      assert.deepEqual(historyOf(done), ['go', 'Which?', 'Rome'])
    }
  })

  it('a refused cancel can be repeated', async (t) => {
    const { agent } = prompted()
    const { testEngine, goes, returns } = await engineWithOutages(t, agent)
    const { id } = await testEngine.start('a')
    goes()
    await assert.rejects(testEngine.cancel(id), unavailable)
    returns()
    await eventually(async () =>
      testEngine.cancel(id).then(
        () => true,
        () => false,
      ),
    )
    assert.equal(short((await testEngine.get(id)).status.state), 'CANCELED')
  })

  it('other tasks are served all the time, if only one cannot be written', async (t) => {
    const { agent, say } = prompted()
    const { testEngine, goes, returns } = await engineWithOutages(t, agent)
    const { id } = await testEngine.start('a')
    const others = await Promise.all([testEngine.start('b'), testEngine.start('c')])
    for (const other of others) await testEngine.reaches(other.id, 'TASK_STATE_WORKING')
    await testEngine.reaches(id, 'TASK_STATE_WORKING')
    goes('before', (method) => method === 'tasks.append')
    say('a')
    await eventually(() => testEngine.lines.some(({ message }) => message === 'a task could not be written'))
    returns()
    say('b')
    say('c')
    for (const other of others) {
      await testEngine.reaches(other.id, 'TASK_STATE_COMPLETED')
      assert.equal((await testEngine.log(other.id)).filter(({ body }) => body.type === 'turn-started').length, 1)
    }
    await testEngine.reaches(id, 'TASK_STATE_COMPLETED')
  })
})

describe('when the engine closes', () => {
  it('waiting calls get an error, agents are stopped, and nothing new is accepted', async (t) => {
    const aborted = Promise.withResolvers<{ code?: string }>()
    const testEngine = await openTestEngine(t, async function* ({ signal }: Turn) {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason as { code?: string }))
      yield 'said'
      await new Promise(() => {})
    })
    const stream = await testEngine.stream({ messageId: 'm1' })
    await stream.through((item) => chunksOf([item])[0] === 'said')
    const blocked = testEngine.task({ messageId: 'm1' })
    const refused = [assert.rejects(blocked, unavailable), assert.rejects(stream.rest(), unavailable)]
    await testEngine.engine.close()
    await Promise.all(refused)
    assert.equal((await aborted.promise).code, 'UNAVAILABLE')
    await assert.rejects(testEngine.send('hi'), unavailable)
    await assert.rejects(testEngine.stream('hi'), unavailable)
  })

  it('a call in progress starts no agent', async (t) => {
    const gate = Promise.withResolvers<void>()
    let asked = 0
    let ran = 0
    const store = faultyStore(memoryStore(), {
      before(method) {
        if (method !== 'tasks.findMessage') return undefined
        asked += 1
        return gate.promise
      },
    })
    const testEngine = await openTestEngine(t, () => void (ran += 1), { store })
    const sent = assert.rejects(testEngine.send('hi'), unavailable)
    await eventually(() => asked === 1)
    await testEngine.engine.close()
    gate.resolve()
    await sent
    assert.equal(ran, 0)
  })

  it('reported output is in the log', async (t) => {
    const testEngine = await openTestEngine(t, async function* () {
      for (let word = 0; word < 100; word += 1) yield `${word} `
      await new Promise(() => {})
    })
    const { id } = await testEngine.start('go')
    await eventually(async () => ((await testEngine.get(id)).artifacts?.length ?? 0) > 0)
    const stored = await testEngine.get(id)
    await testEngine.engine.close()
    const chunks = (await testEngine.log(id)).filter(({ body }) => body.type === 'artifact')
    assert.ok(chunks.length >= (artifactText(stored)?.split(' ').length ?? 0) - 1)
    assert.equal((await testEngine.store.tasks.load(id))?.status.state, 'TASK_STATE_WORKING')
  })
})
