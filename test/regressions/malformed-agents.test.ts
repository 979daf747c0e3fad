/**
 * Guards against: agents that return unexpected values. In other servers one such value,
 * for example of an earlier protocol version, threw where no code
 * could catch it, and the process crashed.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import type { Agent, AgentFunction, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import type { TestAgent } from '@parley/a2a/testing'
import { createRecordingLog } from './protocol-requests.ts'

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

/** Each stands for something an agent might yield by mistake. */
const reports: Readonly<Record<string, unknown>> = {
  'the task of an older protocol': { kind: 'task', id: 't', contextId: 'c', status: { state: 'working' } },
  'an update without its data': { kind: 'statusUpdate', data: undefined },
  'a message of an older protocol': { kind: 'message', role: 'agent', messageId: 'm' },
  'a number': 42,
  'a boolean': false,
  'a symbol': Symbol('x'),
  'a function': () => 'x',
  'an empty object': {},
  'an object without a prototype': Object.create(null),
  'an artifact that is null': { artifact: null },
  'an artifact that is a text': { artifact: 'x' },
  'an artifact without an id': { artifact: { parts: [{ text: 'x' }] } },
  'an artifact with parts that are no list': { artifact: { artifactId: 'a', parts: 'x' } },
  'an artifact with an empty list': { artifact: { artifactId: 'a', parts: [] } },
  'an artifact with a part that is null': { artifact: { artifactId: 'a', parts: [null] } },
  'a chunk of an artifact that was never begun': {
    artifact: { artifactId: 'a', parts: [{ text: 'x' }] },
    append: true,
  },
  'a part with two contents': { text: 'x', url: 'https://example.com' },
  'a part whose text is a number': { text: 5 },
  'an unknown state': { state: 'DONE' },
  'a state that is no text': { state: { toString: null } },
  'a state with a message that is a number': { state: 'TASK_STATE_WORKING', message: 5 },
  'a state with a message without parts': { state: 'TASK_STATE_INPUT_REQUIRED', message: {} },
  'a reply that is null': { reply: null },
  'data with a cycle': { data: cycle },
  'data with a BigInt': { data: { n: 1n } },
  'metadata that is a list': { text: 'x', metadata: [] },
  'a getter that throws': Object.defineProperty({}, 'text', { enumerable: true, get: () => assert.fail('secret') }),
  'a proxy that throws': new Proxy({}, { has: () => assert.fail('secret'), get: () => assert.fail('secret') }),
}

const broken = {
  [Symbol.asyncIterator]: () => assert.fail('no iterator'),
}
/** Each stands for an agent that violates its contract. */
const agents: Readonly<Record<string, () => unknown>> = {
  'throws at once': () => assert.fail('at once'),
  'throws no error but nothing': () => {
    throw undefined
  },
  rejects: () => Promise.reject(new Error('later')),
  'rejects with null': () => Promise.reject(null),
  'gives an iterable that is none': () => broken,
  'gives an iterator whose next throws': () => ({
    [Symbol.asyncIterator]: () => ({ next: () => assert.fail('next') }),
  }),
  'gives an iterator that answers nonsense': () => ({ [Symbol.asyncIterator]: () => ({ next: () => 5 }) }),
  'gives an iterator whose return throws': () => ({
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve({ done: false, value: { state: 'TASK_STATE_FAILED' } }),
      return: () => assert.fail('return'),
    }),
  }),
  'gives a list whose return throws': () => ({
    [Symbol.iterator]: () => ({
      next: () => ({ done: false, value: { state: 'TASK_STATE_FAILED' } }),
      return: () => assert.fail('return'),
    }),
  }),
  'gives an observable that throws': () => ({ subscribe: () => assert.fail('subscribe') }),
  'gives an observable that fails at once': () => ({
    subscribe: (observer: { error(reason: unknown): void }) => observer.error(new Error('x')),
  }),
  'gives an observable whose unsubscribe throws': () => ({
    subscribe: (observer: { next(value: unknown): void }) => {
      observer.next({ state: 'TASK_STATE_FAILED' })
      return { unsubscribe: () => assert.fail('unsubscribe') }
    },
  }),
  'gives a promise whose then throws': () => ({
    then: () => assert.fail('then'),
  }),
}

describe('a misbehaving agent', () => {
  let current: () => unknown = () => 'fine'
  let agent: TestAgent
  const accidents: unknown[] = []
  const note = (reason: unknown): void => void accidents.push(reason)
  before(() => {
    agent = testAgent((() => current()) as Agent, { server: { log: createRecordingLog() } })
    process.on('uncaughtException', note)
    process.on('unhandledRejection', note)
  })
  after(async () => {
    process.off('uncaughtException', note)
    process.off('unhandledRejection', note)
    await agent.close()
  })

  async function expectFailure(run: () => unknown): Promise<void> {
    current = run
    const task = (await agent.send('go')) as Task
    assert.equal(task.status.state, 'TASK_STATE_FAILED')
    assert.doesNotMatch(JSON.stringify(task), /secret|at once|assert|Error/)
    assert.equal((await agent.stream('go').states()).at(-1), 'TASK_STATE_FAILED')
    current = () => 'fine'
    assert.equal(await agent.ask('still there?'), 'fine')
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(accidents, [], 'something escaped')
  }

  for (const [what, report] of Object.entries(reports)) {
    it(`fails its task when it yields ${what}, and affects no other task [B-50]`, () =>
      expectFailure(async function* () {
        yield report
      }))
  }
  for (const [what, run] of Object.entries(agents)) {
    it(`fails its task when it ${what}, and affects no other task [B-50]`, () => expectFailure(run))
  }

  it('may omit `await` on calls of its turn', async () => {
    const forgetful: AgentFunction[] = [
      (turn) => void turn.ask('Which?'),
      (turn) => void turn.askMessage({ parts: [] }),
      (turn) => void turn.checkpoint({ n: 1n as never }),
      (turn) => void setTimeout(() => void turn.checkpoint({}), 1),
      (turn) => void [turn.ask('Which?'), turn.ask('Which?')],
      (turn) => void [turn.history(), turn.artifacts(), turn.context(), turn.references()],
    ]
    for (const run of forgetful) {
      const one = testAgent(run, { server: { log: createRecordingLog() } })
      const task = (await one.send('go')) as Task
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED', String(run))
      await delay(10)
      await one.close()
    }
    assert.deepEqual(accidents, [])
  })

  it('may return a value that cannot be serialized', async () => {
    for (const report of [42, Symbol('x'), { kind: 'task' }, [5], new Map([[1, 2]])]) {
      current = () => report
      const task = (await agent.send('go')) as Task
      assert.equal(task.status.state, 'TASK_STATE_FAILED', typeof report)
    }
    assert.deepEqual(accidents, [])
  })
})
