/** Repeated messages, and messages that find their task by the tool call they answer. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, AgentFunction, CheckMessage } from '../../agents/agent.ts'
import { inputRequired, reply } from '../../agents/reports.ts'
import { anonymous } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import { clientToolsExtension } from '../../model/extension.ts'
import { newId } from '../../model/id.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import {
  aliceContext,
  artifactText,
  chunksOf,
  historyOf,
  openTestEngine,
  textOfMessage,
  short,
  statesOf,
} from '../../testing/fixtures/test-engine.ts'

const message = { messageId: 'm1', parts: [{ text: 'once' }] }

/** Counts its calls. */
function counted(agent: AgentFunction): AgentFunction & { calls: number } {
  const call: AgentFunction = (turn) => {
    counting.calls += 1
    return agent(turn)
  }
  const counting = Object.assign(call, { calls: 0 })
  return counting
}

describe('a repeated message', () => {
  it('joins the first while that is accepted: one task, one run, one answer [B-163]', async (t) => {
    const agent = counted(async () => {
      await sleep(10)
      return 'done'
    })
    const testEngine = await openTestEngine(t, agent)
    const tasks = await Promise.all(Array.from({ length: 10 }, () => testEngine.task(message)))
    for (const task of tasks) assert.deepEqual(task, tasks[0])
    assert.equal(artifactText(tasks[0] ?? assert.fail()), 'done')
    assert.equal(agent.calls, 1)
  })

  it('joins the task after it was opened, and waits for its end like the first [B-163]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const agent = counted(async () => {
      await gate.promise
      return 'done'
    })
    const testEngine = await openTestEngine(t, agent)
    const started = await testEngine.start(message)
    const again = testEngine.task(message)
    gate.resolve()
    assert.equal((await again).id, started.id)
    assert.equal(short((await again).status.state), 'COMPLETED')
    assert.equal(agent.calls, 1)
  })

  it('gets the same task after the end [B-163]', async (t) => {
    const agent = counted(() => 'done')
    const testEngine = await openTestEngine(t, agent)
    const first = await testEngine.task(message)
    assert.deepEqual(await testEngine.task(message), first)
    assert.equal(agent.calls, 1)
  })

  it('as a stream delivers all events from the start, during and after the task [B-163]', async (t) => {
    const gate = Promise.withResolvers<void>()
    const testEngine = await openTestEngine(t, async function* () {
      yield 'a'
      await gate.promise
      yield 'b'
    })
    const first = await testEngine.stream(message)
    const begun = await first.through((item) => chunksOf([item]).includes('a'))
    const again = await testEngine.stream(message)
    assert.deepEqual(await again.through((item) => chunksOf([item]).includes('a')), begun)
    gate.resolve()
    const all = [...begun, ...(await first.rest())]
    assert.deepEqual([...begun, ...(await again.rest())], all)
    assert.deepEqual(await (await testEngine.stream(message)).rest(), all, 'and after the end')
    assert.equal(chunksOf(all).join(''), 'ab')
  })

  it('as a stream of a follow-up begins with the task at the time of the message [B-163 B-91]', async (t) => {
    const testEngine = await openTestEngine(t, ({ text }) => (text === 'ask' ? inputRequired('Which?') : 'done'))
    const { id } = await testEngine.task('ask')
    const answer = { messageId: 'm2', taskId: id, parts: [{ text: 'Rome' }] }
    await testEngine.task(answer)
    const [shown, ...rest] = await (await testEngine.stream(answer)).rest()
    assert.ok(shown !== undefined && 'task' in shown.event)
    assert.equal(short(shown.event.task.status.state), 'INPUT_REQUIRED')
    assert.deepEqual(historyOf(shown.event.task), ['ask', 'Which?', 'Rome'])
    assert.equal(shown.final, false, 'the question was answered')
    assert.deepEqual(statesOf(rest), ['WORKING', 'COMPLETED'])
  })

  it('as a stream with a pruned log gets the current task, marked as a gap [B-163 B-109]', async (t) => {
    const testEngine = await openTestEngine(t, () => 'x'.repeat(100_000))
    const done = await testEngine.task(message)
    assert.equal(await testEngine.store.prune({ logBefore: Date.now() + 1_000, batch: 10 }), 1)
    const items = await (await testEngine.stream(message)).rest()
    assert.deepEqual(
      items.map(({ event, gap, final }) => ({ event, gap, final })),
      [{ event: { task: done }, gap: true, final: true }],
    )
  })

  it('that was a follow-up is not delivered twice [B-163]', async (t) => {
    const agent = counted(({ text }) => (text === 'ask' ? inputRequired('Which?') : inputRequired(`${text}?`)))
    const testEngine = await openTestEngine(t, agent)
    const { id } = await testEngine.task('ask')
    const answer = { messageId: 'm2', taskId: id, parts: [{ text: 'Rome' }] }
    const both = await Promise.all([testEngine.task(answer), testEngine.task(answer)])
    assert.deepEqual(both[0], both[1])
    assert.deepEqual(await testEngine.task(answer), both[0])
    assert.deepEqual(historyOf(both[0]), ['ask', 'Which?', 'Rome'])
    assert.equal(agent.calls, 2)
  })

  it('gets the same task even if that has ended since [B-163 B-43]', async (t) => {
    const testEngine = await openTestEngine(t, ({ text }) => (text === 'ask' ? inputRequired('Which?') : 'done'))
    const { id } = await testEngine.task('ask')
    const answer = { messageId: 'm2', taskId: id, parts: [{ text: 'Rome' }] }
    const done = await testEngine.task(answer)
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.deepEqual(await testEngine.task(answer), done)
  })

  it('gets the same Message as a direct reply, during and after the run [B-163]', async (t) => {
    const agent = counted(async () => {
      await sleep(5)
      return reply('Hi')
    })
    const testEngine = await openTestEngine(t, agent)
    const [first, second] = await Promise.all([testEngine.send(message), testEngine.send(message)])
    assert.ok('message' in first)
    assert.deepEqual(second, first)
    assert.deepEqual(await testEngine.send(message), first)
    assert.equal(agent.calls, 1)
  })

  it('with other content is a new message, whatever the outcome of the first [B-163]', async (t) => {
    const agent = counted(({ text }) => (text.startsWith('reply') ? reply(text) : text))
    const testEngine = await openTestEngine(t, agent)
    for (const text of ['reply', 'task']) {
      const [first, other] = [text, `${text}, another`].map((said) => ({ messageId: text, parts: [{ text: said }] }))
      const [one, two] = await Promise.all([testEngine.send(first ?? ''), testEngine.send(other ?? '')])
      assert.notDeepEqual(one, two, 'while the first is underway')
      // Both are recognized from now on, each by its own content.
      assert.deepEqual([await testEngine.send(first ?? ''), await testEngine.send(other ?? '')], [one, two])
    }
    assert.equal(agent.calls, 4)
  })

  it('that presents what opens one task opens one, in every process and after a restart', async (t) => {
    const store = memoryStore({ leaseTtlMs: 1_000 })
    // A direct reply would open no task, and only one process would remember it.
    const agent = counted(() => reply('done'))
    const as = { singleUse: { id: 'token', ttlMs: 60_000 } }
    const engines = [await openTestEngine(t, agent, { store }), await openTestEngine(t, agent, { store })]
    const said = (number: number) => ({ ...message, parts: [{ text: `text ${number}` }] })
    const sent = await Promise.allSettled(
      engines.flatMap((one, index) => [1, 2, 3].map((number) => one.task(said(index * 3 + number), { as }))),
    )
    const refusals = sent.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    assert.deepEqual(
      refusals,
      Array.from({ length: 5 }, () => 'MESSAGE_ID_REUSED'),
    )
    await Promise.all(engines.map(({ engine }) => engine.close()))
    const again = await openTestEngine(t, agent, { store })
    await assert.rejects(again.task(said(7), { as }), { code: 'MESSAGE_ID_REUSED' })
    const number = sent.findIndex(({ status }) => status === 'fulfilled') + 1
    const [opened] = sent.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    assert.equal((await again.task(said(number), { as })).id, opened?.id)
    // The message of another caller is not a repeat: it must not get this task.
    const other = { ...as, caller: { id: 'bob' } }
    await assert.rejects(again.task(said(number), { as: other }), { code: 'MESSAGE_ID_REUSED' })
    assert.equal(agent.calls, 1)
  })

  it('with other content inside one task is an error: the id belongs to another message there [B-163]', async (t) => {
    const store = memoryStore({ leaseTtlMs: 1_000 })
    const asks = () => inputRequired('and?')
    const [testEngine, there] = [await openTestEngine(t, asks, { store }), await openTestEngine(t, asks, { store })]
    const { id } = await testEngine.task(message)
    const answer = { messageId: 'm2', taskId: id, parts: [{ text: 'Rome' }] }
    await testEngine.task(answer)
    const other = { ...answer, parts: [{ text: 'Paris' }] }
    for (const engine of [testEngine, there]) {
      await assert.rejects(engine.send(other), { code: 'MESSAGE_ID_REUSED' })
      await assert.rejects(engine.stream(other), { code: 'MESSAGE_ID_REUSED' })
      await assert.rejects(
        engine.send({ ...other, messageId: 'm1' }),
        { code: 'MESSAGE_ID_REUSED' },
        'as the first had',
      )
    }
    assert.deepEqual(historyOf(await testEngine.task(answer)), ['once', 'and?', 'Rome'])
    const elsewhere = await testEngine.task(other.parts[0]?.text ?? '')
    const there2 = await testEngine.task({ ...other, taskId: elsewhere.id })
    assert.equal(there2.id, elsewhere.id, 'in another task the id is free')
  })

  it('with its keys in another order, or with empty fields spelled out, is the same message [B-163]', async (t) => {
    const testEngine = await openTestEngine(t, () => 'done')
    const said = { messageId: 'm1', parts: [{ data: { a: 1, b: { c: 2, d: 3 } }, metadata: { x: 1, y: 2 } }] }
    const same = {
      parts: [{ metadata: { y: 2, x: 1 }, data: { b: { d: 3, c: 2 }, a: 1 } }],
      extensions: [],
      messageId: 'm1',
    }
    assert.equal((await testEngine.task(same)).id, (await testEngine.task(said)).id)
  })

  it('is distinguished by every byte of a long text or a file [B-163]', async (t) => {
    const agent = counted(() => 'done')
    const testEngine = await openTestEngine(t, agent)
    const long = 'x'.repeat(3_000_000)
    const spoiled = `${long.slice(0, 1_234_567)}y${long.slice(1_234_568)}`
    for (const part of [(text: string) => ({ text }), (raw: string) => ({ raw })]) {
      const ids: string[] = []
      for (const said of [long, spoiled, long])
        ids.push((await testEngine.task({ messageId: 'm1', parts: [part(said)] })).id)
      assert.equal(ids[2], ids[0])
      assert.notEqual(ids[1], ids[0])
    }
    assert.equal(agent.calls, 4)
  })

  it('from another caller, for another agent or tenant is another message [B-163]', async (t) => {
    const testEngine = await openTestEngine(t, () => 'done')
    const contexts = [{}, { caller: { id: 'bob' } }, { agent: 'another' }, { tenant: 'acme' }]
    const tasks = await Promise.all(contexts.map((as) => testEngine.task(message, { as })))
    assert.equal(new Set(tasks.map(({ id }) => id)).size, 4)
  })

  it('after the window is a new message, and so is each without a window [B-163]', async (t) => {
    let now = Date.now()
    const testEngine = await openTestEngine(t, () => 'done', { now: () => now, store: memoryStore({ now: () => now }) })
    const first = await testEngine.task(message)
    now += 60_000
    assert.notEqual((await testEngine.task(message)).id, first.id)
    const without = await openTestEngine(t, () => 'done', { options: { idempotencyWindowMs: 0 } })
    assert.notEqual((await without.task(message)).id, (await without.task(message)).id)
  })

  it('to another engine over the same store finds the task [B-163]', async (t) => {
    const agent = counted(() => 'done')
    const store = memoryStore({ leaseTtlMs: 1_000 })
    const [here, there] = [await openTestEngine(t, agent, { store }), await openTestEngine(t, agent, { store })]
    const first = await here.task(message)
    assert.deepEqual(await there.task(message), first)
    assert.equal(agent.calls, 1)
  })

  it('to two engines at the same time opens one task [B-163]', async (t) => {
    const store = memoryStore({ leaseTtlMs: 1_000 })
    const agent: Agent = async () => {
      await sleep(1)
      return 'done'
    }
    const [here, there] = [await openTestEngine(t, agent, { store }), await openTestEngine(t, agent, { store })]
    for (let run = 0; run < 20; run += 1) {
      const same = { messageId: `m${run}` }
      const [a, b] = await Promise.all([here.task(same), there.task(same)])
      assert.equal(a.id, b.id)
      assert.deepEqual(a, b)
    }
    assert.equal((await store.tasks.list({ tenant: '', agent: 'agent', owner: 'alice', limit: 100 })).total, 20)
  })

  it('with other content to two engines at the same time opens two tasks [B-163]', async (t) => {
    const store = memoryStore({ leaseTtlMs: 1_000 })
    const [here, there] = [
      await openTestEngine(t, () => 'done', { store }),
      await openTestEngine(t, () => 'done', { store }),
    ]
    for (let run = 0; run < 20; run += 1) {
      const [one, other] = ['one', 'other'].map((text) => ({ messageId: `m${run}`, parts: [{ text }] }))
      const [a, b] = await Promise.all([here.task(one ?? ''), there.task(other ?? '')])
      assert.notEqual(a.id, b.id)
      assert.equal((await there.task(one ?? '')).id, a.id)
    }
  })
})

describe('a repeated message of an anonymous caller', () => {
  const as = { caller: anonymous }
  const phone = { parts: [{ text: 'My number?' }] }

  it('under a guessable id is a new message: no caller gets the task of another [B-163]', async (t) => {
    const testEngine = await openTestEngine(t, ({ task }) => `0123 456789 for ${task.id}`)
    for (const messageId of [
      'm1',
      '1',
      '00000000-0000-0000-0000-000000000000',
      'c232ab00-9414-11ec-b3c8-9f6bdeced846',
    ]) {
      const mine = await testEngine.task({ ...phone, messageId }, { as })
      const theirs = await testEngine.task({ ...phone, messageId }, { as })
      assert.notEqual(theirs.id, mine.id, messageId)
      assert.notEqual(artifactText(theirs), artifactText(mine))
      const stream = await (await testEngine.stream({ ...phone, messageId }, { as })).rest()
      assert.doesNotMatch(JSON.stringify(stream), new RegExp(mine.id))
    }
  })

  it('neither joins a running message nor gets the reply of another caller [B-163]', async (t) => {
    let answers = 0
    const testEngine = await openTestEngine(t, () => reply(`number ${(answers += 1)}`))
    const said = { ...phone, messageId: 'm1' }
    const both = await Promise.all([testEngine.send(said, { as }), testEngine.send(said, { as })])
    const all = [...both, await testEngine.send(said, { as })].map(
      (answer) => 'message' in answer && textOfMessage(answer.message),
    )
    assert.deepEqual(new Set(all), new Set(['number 1', 'number 2', 'number 3']))
  })

  it('under a UUID is the same message [B-163]', async (t) => {
    const agent = counted(() => 'done')
    const testEngine = await openTestEngine(t, agent)
    const ids = [
      crypto.randomUUID(),
      crypto.randomUUID().toUpperCase(),
      crypto.randomUUID().replaceAll('-', ''),
      newId(),
    ]
    for (const messageId of ids) {
      const first = await testEngine.task({ ...phone, messageId }, { as })
      assert.equal((await testEngine.task({ ...phone, messageId }, { as })).id, first.id, messageId)
    }
    assert.equal(agent.calls, ids.length)
  })
})

describe('the answer to a tool call', () => {
  const call = (toolUseId: string) =>
    inputRequired({
      parts: [{ data: { toolUseId, name: 'search' }, metadata: { [clientToolsExtension]: { type: 'tool-use' } } }],
    })
  const result = (toolUseId: string) => [
    { data: { toolUseId, content: 'found' }, metadata: { [clientToolsExtension]: { type: 'tool-result' } } },
  ]
  const agent: Agent = ({ text, message }) =>
    text === 'ask' ? call('t1') : text === 'other' ? call('t2') : `got ${message.parts.length}`

  it('continues the task that it refers to, if that waits for just this answer', async (t) => {
    const testEngine = await openTestEngine(t, agent)
    const [asked, other] = [await testEngine.task('ask'), await testEngine.task('other')]
    const done = await testEngine.task({ parts: result('t1'), referenceTaskIds: [other.id, asked.id, 'unknown'] })
    assert.equal(done.id, asked.id)
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.equal(short((await testEngine.get(other.id)).status.state), 'INPUT_REQUIRED')
  })

  it('is a new message if no task, or only a task of another caller, waits for it', async (t) => {
    const testEngine = await openTestEngine(t, agent)
    const asked = await testEngine.task('ask')
    const referenceTaskIds = [asked.id]
    assert.notEqual((await testEngine.task({ parts: result('t9'), referenceTaskIds })).id, asked.id)
    const otherCaller = { caller: { id: 'bob' } }
    assert.notEqual(
      (await testEngine.task({ parts: result('t1'), referenceTaskIds }, { as: otherCaller })).id,
      asked.id,
    )
    assert.equal(short((await testEngine.get(asked.id)).status.state), 'INPUT_REQUIRED')
  })
})

describe('a check of messages', () => {
  const agent: Agent = ({ text }) => (text === 'ask' ? inputRequired('Which?') : 'done')
  const refusal = new A2AError('PAYLOAD_TOO_LARGE', 'too large')

  it('refuses with its own error, and opens no task', async (t) => {
    for (const checkMessage of [() => assert.fail(refusal), () => Promise.reject(refusal)]) {
      const testEngine = await openTestEngine(t, agent, { entry: { checkMessage } })
      await assert.rejects(testEngine.send('hi'), { code: 'PAYLOAD_TOO_LARGE', message: 'too large' })
      assert.deepEqual((await testEngine.engine.listTasks({}, aliceContext)).tasks, [])
    }
  })

  it('gets the message, its caller and the metadata of the request, once for all repeats', async (t) => {
    const checked: unknown[] = []
    const checkMessage: CheckMessage = ({ parts }, about) => void checked.push([parts, about])
    const testEngine = await openTestEngine(t, agent, { entry: { checkMessage } })
    const first = await testEngine.task(message, { metadata: { priority: 1 } })
    assert.equal((await testEngine.task(message, { metadata: { priority: 1 } })).id, first.id)
    assert.deepEqual(checked, [[message.parts, { caller: { id: 'alice' }, metadata: { priority: 1 } }]])
  })

  it('does not concern messages of an open task', async (t) => {
    const checkMessage: CheckMessage = ({ taskId }) => assert.equal(taskId, undefined)
    const testEngine = await openTestEngine(t, agent, { entry: { checkMessage } })
    const { id } = await testEngine.task('ask')
    assert.equal(short((await testEngine.task({ taskId: id })).status.state), 'COMPLETED')
  })
})
