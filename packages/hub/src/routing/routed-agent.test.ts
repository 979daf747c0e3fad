/** An agent that delegates some of its messages: its caller sees one task, whichever agent does the work. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import {
  A2AError,
  artifact,
  fail,
  inputRequired,
  reject,
  reply,
  status,
  type Agent,
  type Report,
  type Task,
  type Turn,
} from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'
import { routeSchema as schema } from '../config/sections/routes.ts'
import { createTestHub, type TestModule } from '../delegation/testing/test-hub.ts'
import { createHealthMonitor, observeAgent } from '../health/health-monitor.ts'
import { createRouting } from './routing.ts'

interface Given {
  readonly store?: Store
  readonly failures?: number
  readonly hidden?: readonly string[]
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

async function open(
  t: TestContext,
  routes: readonly object[],
  agents: Readonly<Record<string, TestModule>>,
  { store, failures = 100, hidden = [] }: Given = {},
) {
  const closed = new Set<string>()
  const isOpen = (agent: string): boolean => agent in agents && !closed.has(agent)
  const health = createHealthMonitor({
    settings: () => ({ every: Infinity, timeout: 1_000, slow: Infinity, failures, cooldown: 60_000 }),
    names: () => Object.keys(agents),
    isOpen,
    probe: () => undefined,
    log: silent,
    now: Date.now,
  })
  t.after(health.close)
  const read = routes.map((one) => schema.parse({ from: 'front', ...one }))
  const hub = await createTestHub(t, agents, {
    ...(store !== undefined ? { store } : {}),
    wrap(name, agent, inProcessClient) {
      const watched = observeAgent(agent, health.observer(name), { now: Date.now, monotonicNow: Date.now })
      const routing = createRouting({
        routes: () => read,
        health,
        canUse: (_, target) => !hidden.includes(target),
        isInChain: () => false,
        inProcessClient: () => inProcessClient,
        isOpen,
      })
      return routing.hasRoutes(name) ? routing.wrapAgent(name, watched) : watched
    },
  })
  return { hub, closed, health }
}

const texts = ({ artifacts = [] }: Task): readonly string[] =>
  artifacts.map(
    ({ artifactId, parts }) => `${artifactId}: ${parts.map((part) => ('text' in part ? part.text : '')).join('')}`,
  )
const lastWords = ({ status: { message } }: Task): string =>
  (message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')
const unavailable: Agent = () => {
  throw new A2AError('AGENT_UNAVAILABLE', 'It is down')
}
const invoices = { when: { text: 'invoice' }, to: 'back' }

describe('a message that a route fits', () => {
  it('is done by the other agent, as a task of its own, in its words [S4-16 S2-12]', async (t) => {
    let seen: Turn | undefined
    const back: Agent = async function* (turn) {
      seen = turn
      yield status('Looking')
      yield artifact('sum', { data: 42 })
      yield 'forty-two'
    }
    const { hub } = await open(t, [invoices], { front: () => 'me', back })
    const task = await hub.send('front', 'an invoice', { metadata: { skillId: 'x' } })
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(
      (task.artifacts ?? []).map(({ artifactId, parts }) => [artifactId, parts]),
      [
        ['sum', [{ data: 42 }]],
        ['answer', [{ text: 'forty-two' }]],
      ],
    )
    assert.deepEqual([seen?.message.referenceTaskIds, seen?.message.metadata], [[task.id], { skillId: 'x' }])
    assert.equal(seen?.caller.id, 'agent:front|me')
    assert.deepEqual(texts(await hub.send('front', 'a bill')), ['answer: me'])
  })

  it('ends as it ends there: refused, failed, or with a message', async (t) => {
    const back: Agent = ({ text }) =>
      text.includes('no') ? reject('Not mine') : text.includes('bad') ? fail('Broken') : reply('Hi')
    const { hub } = await open(t, [invoices], { front: () => 'me', back })
    const ended = async (text: string): Promise<readonly string[]> => {
      const task = await hub.send('front', text)
      return [task.status.state, lastWords(task)]
    }
    assert.deepEqual(await ended('no invoice'), ['TASK_STATE_REJECTED', 'Not mine'])
    assert.deepEqual(await ended('bad invoice'), ['TASK_STATE_FAILED', 'Broken'])
    assert.deepEqual(await ended('invoice'), ['TASK_STATE_COMPLETED', 'Hi'])
  })

  it('may be asked about: the answer goes to who asked, whatever it says', async (t) => {
    const back: Agent = async ({ text, history }) =>
      (await history()).length === 1 ? inputRequired('Which?') : `the ${text} one`
    const { hub } = await open(t, [invoices], { front: () => 'me', back })
    const asked = await hub.send('front', 'invoice')
    assert.deepEqual([asked.status.state, lastWords(asked)], ['TASK_STATE_INPUT_REQUIRED', 'Which?'])
    assert.equal(asked.status.message?.referenceTaskIds?.length, 1)
    assert.deepEqual(texts(await hub.send('front', 'last', { taskId: asked.id })), ['answer-2: the last one'])
  })

  it('stays where it is when the task began with the agent itself', async (t) => {
    const front: Agent = async ({ text, history }) =>
      (await history()).length === 1 ? inputRequired('What?') : `me: ${text}`
    const { hub } = await open(t, [invoices], { front, back: () => 'back' })
    const asked = await hub.send('front', 'hello')
    assert.deepEqual(texts(await hub.send('front', 'an invoice', { taskId: asked.id })), ['answer-2: me: an invoice'])
  })

  it('goes on with the other agent after a restart, and is canceled there if it is canceled here', async (t) => {
    const gate = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const children: string[] = []
    const back: Agent = {
      resume: 'rerun',
      async *run({ resumed, task, signal, text }): AsyncGenerator<Report, void, undefined> {
        children.push(task.id)
        if (text === 'endless invoice')
          await new Promise((_, rejects) => signal.addEventListener('abort', () => rejects(signal.reason as Error)))
        if (resumed === undefined) yield 'one '
        begun.resolve()
        await gate.promise
        yield artifact('answer', { text: 'two', append: true })
      },
    }
    const { hub: before } = await open(t, [invoices], { front: () => 'me', back })
    const { id } = await before.begin('front', 'invoice')
    await begun.promise
    await before.shutDown()
    const { hub } = await open(t, [invoices], { front: () => 'me', back }, { store: before.store })
    gate.resolve()
    assert.deepEqual(texts(await hub.waitForState('front', id, 'TASK_STATE_COMPLETED')), ['answer: one two'])
    assert.equal(new Set(children).size, 1)
    const endless = await hub.begin('front', 'endless invoice')
    while (new Set(children).size < 2) await new Promise((resolve) => setTimeout(resolve, 1))
    const context = { agent: 'front', tenant: '', caller: { id: 'me' }, extensions: [], canListTasks: true }
    await hub.engine.cancelTask({ id: endless.id }, { ...context, signal: new AbortController().signal })
    await hub.waitForState('back', children.at(-1) ?? '', 'TASK_STATE_CANCELED', 'agent:front|me')
  })
})

describe('an agent that cannot do it', () => {
  const route = { to: ['one'], fallback: ['two', 'front'] }

  it('is followed by the next, as long as it has given nothing', async (t) => {
    const agents = { front: () => 'me', one: unavailable, two: () => 'two' }
    const { hub } = await open(t, [route], agents)
    assert.deepEqual(texts(await hub.send('front', 'x')), ['answer: two'])
    const { hub: last } = await open(t, [route], { ...agents, two: unavailable })
    assert.deepEqual(texts(await last.send('front', 'x')), ['answer: me'])
    const half: Agent = async function* () {
      yield 'half'
      throw new A2AError('AGENT_UNAVAILABLE', 'It is down')
    }
    const { hub: refusing } = await open(t, [route], { ...agents, one: half })
    const task = await refusing.send('front', 'x')
    assert.deepEqual([task.status.state, texts(task)], ['TASK_STATE_FAILED', ['answer: half']])
  })

  it('is not followed by another if it has a reason', async (t) => {
    const { hub } = await open(t, [route], { front: () => 'me', one: () => fail('No such order'), two: () => 'two' })
    assert.equal(lastWords(await hub.send('front', 'x')), 'No such order')
  })

  it('is skipped while it is unavailable; if all are, the caller gets an error', async (t) => {
    const asked: string[] = []
    const say = (name: string): Agent => {
      return () => {
        asked.push(name)
        return name
      }
    }
    const agents = { front: say('front'), one: say('one'), two: say('two') }
    const { hub, closed } = await open(t, [{ to: 'one', fallback: 'two' }], agents)
    closed.add('one')
    assert.deepEqual(texts(await hub.send('front', 'x')), ['answer: two'])
    closed.add('two')
    await assert.rejects(() => hub.send('front', 'x'), { code: 'AGENT_UNAVAILABLE' })
    assert.deepEqual(asked, ['two'])
  })

  it('is left alone after some failures in a row', async (t) => {
    let asked = 0
    const one: Agent = () => {
      asked += 1
      throw new A2AError('AGENT_UNAVAILABLE', 'It is down')
    }
    const { hub, health } = await open(t, [route], { front: () => 'me', one, two: () => 'two' }, { failures: 3 })
    for (let count = 0; count < 6; count += 1) assert.deepEqual(texts(await hub.send('front', 'x')), ['answer: two'])
    assert.deepEqual([asked, health.get('one').breaker], [3, 'open'])
  })

  it('may be the agent itself, for which another stands in', async (t) => {
    const { hub } = await open(t, [{ to: 'front', fallback: 'two' }], { front: unavailable, two: () => 'two' })
    assert.deepEqual(texts(await hub.send('front', 'x')), ['answer: two'])
    const { hub: well } = await open(t, [{ to: 'front', fallback: 'two' }], { front: () => 'me', two: () => 'two' })
    assert.deepEqual(texts(await well.send('front', 'x')), ['answer: me'])
  })

  it('may not be asked by this caller: then the route is not for it', async (t) => {
    const { hub } = await open(t, [invoices], { front: () => 'me', back: () => 'secret' }, { hidden: ['back'] })
    assert.deepEqual(texts(await hub.send('front', 'an invoice')), ['answer: me'])
  })
})
