/** Delegated work with interruptions: an answer, a cancel, a restart. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError, artifact, authRequired, fail, inputRequired, reject, status } from '@parley/a2a'
import type { Agent, Message, Report, Task, Turn } from '@parley/a2a'
import type { AgentTools } from './delegate.ts'
import { createTestHub } from './testing/test-hub.ts'

const texts = ({ artifacts = [] }: Task): readonly string[] =>
  artifacts.map(
    ({ artifactId, parts }) => `${artifactId}: ${parts.map((part) => ('text' in part ? part.text : '')).join('')}`,
  )
const lastWords = ({ status: { message } }: Task): string =>
  (message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')
const owner = 'agent:front|me'
const stopped = ({ signal }: Turn): Promise<never> =>
  new Promise((_, rejects) => signal.addEventListener('abort', () => rejects(signal.reason as Error)))

/** Delegates everything to one agent, and reports the result. */
const front = {
  resume: 'rerun',
  async *run(turn: Turn, { delegate }: AgentTools): AsyncGenerator<Report, void, undefined> {
    const { text } = yield* delegate({ agent: 'back', message: turn.text })
    yield `got ${text}`
  },
} as const

describe('work that is handed on', () => {
  it('fails the task if it fails, is refused or is canceled, unless the agent does something about it', async (t) => {
    const hub = await createTestHub(t, {
      front,
      back: ({ text }: Turn) => (text === 'no' ? reject('Not mine') : text === 'down' ? fail('Down') : 'ok'),
      careful: {
        resume: 'rerun',
        async *run({ text }: Turn, { delegate }: AgentTools) {
          try {
            yield* delegate({ agent: 'back', message: text })
          } catch (reason) {
            assert.ok(reason instanceof A2AError)
            yield `${reason.code} ${reason.details.state}`
          }
        },
      },
    })
    const failed = await hub.send('front', 'down')
    assert.deepEqual([failed.status.state, lastWords(failed)], ['TASK_STATE_FAILED', 'The agent back failed: Down'])
    assert.equal(lastWords(await hub.send('front', 'no')), 'The agent back refused: Not mine')
    assert.deepEqual(texts(await hub.send('careful', 'no')), ['answer: TASK_FAILED TASK_STATE_REJECTED'])
  })

  it('is canceled with the task, while it works and while it waits', async (t) => {
    const children: string[] = []
    const back: Agent = async function* (turn): AsyncGenerator<Report, void, undefined> {
      children.push(turn.task.id)
      if (turn.text === 'ask') return yield inputRequired('Which?')
      yield status('At it')
      await stopped(turn)
    }
    const hub = await createTestHub(t, { front, back })
    for (const [text, waits] of [
      ['work', 'TASK_STATE_WORKING'],
      ['ask', 'TASK_STATE_INPUT_REQUIRED'],
    ] as const) {
      const { id } = await hub.begin('front', text)
      await hub.waitForState('front', id, waits)
      while (children.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
      const context = { agent: 'front', tenant: '', caller: { id: 'me' }, extensions: [], canListTasks: true }
      await hub.engine.cancelTask({ id }, { ...context, signal: new AbortController().signal })
      await hub.waitForState('back', children.pop() ?? '', 'TASK_STATE_CANCELED', owner)
    }
  })

  it('is found again after a restart, with nothing said twice and nothing lost', async (t) => {
    const begun = Promise.withResolvers<string>()
    const gate = Promise.withResolvers<void>()
    let runs = 0
    const back: Agent = {
      resume: 'rerun',
      async *run({ task, resumed }) {
        runs += 1
        if (resumed === undefined) {
          yield status('At it')
          yield artifact('report', { text: 'one ' })
          begun.resolve(task.id)
        }
        await gate.promise
        yield artifact('report', { text: 'two', append: true, last: true })
      },
    }
    const before = await createTestHub(t, { front, back })
    const { id } = await before.begin('front', 'go')
    const child = await begun.promise
    while (!texts(await before.get('front', id)).includes('back.report: one '))
      await new Promise((resolve) => setTimeout(resolve, 1))
    await before.shutDown()
    const after = await createTestHub(t, { front, back }, { store: before.store })
    gate.resolve()
    const task = await after.waitForState('front', id, 'TASK_STATE_COMPLETED')
    assert.deepEqual(texts(task), ['back.report: one two', 'answer: got one two'])
    assert.equal(runs, 2)
    const records = await after.store.tasks.read(id, 0, 1_000)
    const chunks = records.flatMap(({ body }) =>
      body.type === 'artifact' && body.artifact.artifactId === 'back.report'
        ? body.artifact.parts.map((part) => ('text' in part ? part.text : ''))
        : [],
    )
    assert.deepEqual(
      chunks.filter((text) => text !== ''),
      ['one ', 'two'],
    )
    // There is one child, and the trace has the span id that the child received.
    const spans = records.flatMap(({ body }) => (body.type === 'span' ? [body.span] : []))
    assert.deepEqual(
      spans.map(({ kind, attributes }) => [kind, attributes?.['childTaskId']]),
      [['hop', child]],
    )
    const [first] = await after.store.tasks.read(child, 0, 1)
    assert.ok(first?.body.type === 'message')
    assert.equal(first.body.options?.traceparent?.split('-')[2], spans[0]?.spanId)
    assert.deepEqual(first.body.message.referenceTaskIds, [id])
  })

  it('answers a question that was asked before a restart, in whichever turn that is', async (t) => {
    const back: Agent = {
      resume: 'rerun',
      run: async ({ text, history }) => ((await history()).length === 1 ? inputRequired('Which?') : `it is ${text}`),
    }
    const before = await createTestHub(t, { front, back })
    const { id } = await before.send('front', 'go')
    await before.shutDown()
    const after = await createTestHub(t, { front, back }, { store: before.store })
    const task = await after.send('front', 'this', { taskId: id })
    assert.deepEqual(texts(task), ['back.answer-2: it is this', 'answer-2: got it is this'])
  })

  it('keeps secrets: what is asked for as one goes down, and stands in no log', async (t) => {
    const answers: string[] = []
    const back: Agent = async ({ text, history }) => {
      if ((await history()).length === 1) return authRequired('Sign in', { inBand: true })
      answers.push(text)
      return 'in'
    }
    const hub = await createTestHub(t, { front, back })
    const asked = await hub.send('front', 'go')
    assert.equal(asked.status.state, 'TASK_STATE_AUTH_REQUIRED')
    const [child = ''] = asked.status.message?.referenceTaskIds ?? []
    await hub.send('front', 'hunter2', { taskId: asked.id })
    assert.deepEqual(answers, ['hunter2'])
    const logs = [await hub.store.tasks.read(asked.id, 0, 100), await hub.store.tasks.read(child, 0, 100)]
    assert.doesNotMatch(JSON.stringify(logs), /hunter2/)
  })

  it('goes by ways of its own as well: a child that went on without an answer is not asked for one', async (t) => {
    const go = Promise.withResolvers<void>()
    const back: Agent = async function* (turn) {
      if (turn.text === 'ask') {
        await turn.askMessage('Sign in elsewhere', { auth: true })
        return
      }
      yield 'x'
    }
    const hub = await createTestHub(t, { front, back })
    const asked = await hub.send('front', 'ask')
    assert.equal(asked.status.state, 'TASK_STATE_AUTH_REQUIRED')
    const [child = ''] = asked.status.message?.referenceTaskIds ?? []
    const message: Message = { messageId: 'by-itself', role: 'ROLE_USER', parts: [{ text: 'in' }], taskId: child }
    const context = { agent: 'back', tenant: '', caller: { id: owner }, extensions: [], canListTasks: true }
    await hub.engine.sendMessage({ message }, { ...context, signal: new AbortController().signal })
    const task = await hub.send('front', 'done?', { taskId: asked.id })
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    go.resolve()
  })

  it('may be several at once: each has a name, and the questions come one after the other', async (t) => {
    const all = {
      resume: 'rerun',
      async *run(_turn: Turn, { delegate }: AgentTools): AsyncGenerator<Report, void, undefined> {
        const both = [delegate({ agent: 'back', message: 'a' }), delegate({ agent: 'back', message: 'b' })]
        const said: string[] = []
        for (const one of both) said.push((yield* one).text)
        yield said.join('+')
      },
    } as const
    const back: Agent = async ({ text, history }) => {
      const [first] = (await history())[0]?.parts ?? []
      return (await history()).length === 1 ? inputRequired(`${text}?`) : `${(first as { text: string }).text}=${text}`
    }
    const hub = await createTestHub(t, { front: all, back })
    const one = await hub.send('front', 'go')
    const two = await hub.send('front', '1', { taskId: one.id })
    const task = await hub.send('front', '2', { taskId: one.id })
    assert.deepEqual([lastWords(one), lastWords(two)], ['a?', 'b?'])
    assert.deepEqual(texts(task), ['back.answer-2: a=1', 'back-2.answer-2: b=2', 'answer-3: a=1+b=2'])
  })

  it('leaves the agent its own checkpoints', async (t) => {
    const seen: unknown[] = []
    const noting = {
      resume: 'rerun',
      async *run(turn: Turn, { delegate }: AgentTools): AsyncGenerator<Report, void, undefined> {
        seen.push(turn.lastCheckpoint)
        await turn.checkpoint({ own: turn.text })
        yield* delegate({ agent: 'back', message: turn.text })
        await turn.checkpoint({ own: 'after' })
        yield inputRequired('More?')
      },
    } as const
    const back: Agent = async ({ text, history }) => ((await history()).length === 1 ? inputRequired('?') : text)
    const hub = await createTestHub(t, { front: noting, back })
    const { id } = await hub.send('front', 'one')
    await hub.send('front', 'two', { taskId: id })
    await hub.send('front', 'three', { taskId: id })
    assert.deepEqual(seen, [undefined, { own: 'one' }, { own: 'after' }])
  })
})
