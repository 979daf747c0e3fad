/** The health of agents, from their probes and from the results of their turns. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { A2AError, fail, type Agent } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import { createHealthMonitor, type HealthSettings, observeAgent } from './health-monitor.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

function scene(t: TestContext, given: Partial<HealthSettings> = {}) {
  let now = 0
  let trouble: string | undefined
  const open = new Set(['a'])
  const changed: string[] = []
  let instance = {}
  const health = createHealthMonitor({
    settings: () => ({ every: Infinity, timeout: 1_000, slow: 100, failures: 2, cooldown: 50, ...given }),
    names: () => ['a', 'b'],
    isOpen: (agent) => open.has(agent),
    probe: () => async () => {
      if (trouble !== undefined) throw new Error(trouble)
    },
    instance: () => instance,
    onChange: (agent) => changed.push(agent),
    log: silent,
    now: () => now,
  })
  t.after(health.close)
  return {
    health,
    open,
    changed,
    reopen: () => void (instance = {}),
    pass: (ms: number) => void (now += ms),
    is: (what?: string) => void (trouble = what),
    async run(agent: Agent, text = 'x') {
      const tested = testAgent(observeAgent(agent, health.observer('a'), { now: () => now, monotonicNow: () => now }), {
        server: { log: silent },
        turnTimeoutMs: 400,
      })
      t.after(() => tested.close())
      await tested.send(text).catch(() => {})
    },
  }
}

describe('the health of an agent', () => {
  it('is down while it is not open, and while it cannot be reached', async (t) => {
    const { health, open, is } = scene(t)
    assert.equal(health.get('b').state, 'down')
    assert.equal(health.get('a').state, 'up')
    is('connection refused')
    await health.probe()
    assert.deepEqual(
      [health.get('a').state, health.get('a').why],
      ['down', 'its health check failed: connection refused'],
    )
    assert.equal(health.tryAcquire('a'), false)
    is()
    await health.probe()
    assert.equal(health.get('a').state, 'up')
    open.clear()
    assert.equal(health.tryAcquire('a'), false)
  })

  it('reports the next probe of an unreachable agent, and none once an operator stopped them', async (t) => {
    t.mock.method(Math, 'random', () => 1)
    const { health, is, changed } = scene(t, { every: 60_000 })
    is('connection refused')
    await health.probe()
    assert.deepEqual(health.get('a').retry, { state: 'scheduled', nextTryAt: 5_000, attempts: 1, since: 0 })
    assert.deepEqual(changed, ['a'])
    health.stopRetrying('a')
    await health.probe()
    assert.deepEqual(health.get('a').retry, { state: 'stopped', attempts: 1, since: 0 })
    assert.deepEqual(changed, ['a', 'a'])
    await health.retryNow('a')
    assert.deepEqual([health.get('a').retry?.state, health.get('a').retry?.attempts], ['scheduled', 2])
    is()
    await health.retryNow('a')
    assert.deepEqual([health.get('a').state, health.get('a').retry], ['up', undefined])
    assert.equal(changed.length, 4)
  })

  it('has no record of a name whose retries were stopped, but which is no agent', (t) => {
    const asked: string[] = []
    const health = createHealthMonitor({
      settings: () => ({ every: Infinity, timeout: 1_000, failures: 2, cooldown: 1_000, slow: 1_000 }),
      names: () => ['a'],
      isOpen: () => true,
      probe: () => undefined,
      instance: (agent) => void asked.push(agent),
      log: silent,
      now: () => 0,
    })
    t.after(health.close)
    health.stopRetrying('nothing')
    assert.deepEqual(asked, [])
  })

  it('is measured again when the agent was opened anew, and after a turn that succeeded', async (t) => {
    const { health, is, reopen, run } = scene(t)
    is('connection refused')
    await health.probe()
    health.stopRetrying('a')
    reopen()
    assert.deepEqual([health.get('a').state, health.get('a').retry], ['up', undefined])
    await health.probe()
    health.stopRetrying('a')
    assert.equal(health.get('a').state, 'down')
    await run(() => 'fine')
    assert.deepEqual([health.get('a').state, health.get('a').retry], ['up', undefined])
  })

  it('is due for a check after a turn that failed, and when the agent was opened anew', async (t) => {
    const { health, reopen, run, pass } = scene(t)
    pass(1)
    await health.probe()
    assert.equal(health.get('a').askedAt, 1)
    await run(() => 'fine')
    assert.equal(health.get('a').askedAt, 1)
    await run(() => {
      throw new A2AError('UNSUPPORTED_OPERATION', 'no such model')
    })
    assert.deepEqual([health.get('a').state, health.get('a').askedAt], ['up', undefined])
    await health.probe()
    reopen()
    assert.equal(health.get('a').askedAt, undefined)
  })

  it('follows from failures of the agent, and not from work that it refuses', async (t) => {
    const { health, run, pass } = scene(t)
    const unavailable: Agent = () => {
      throw new A2AError('AGENT_UNAVAILABLE', 'down')
    }
    await run(() => fail('That is no invoice'))
    await run(() => fail('Nor is that'))
    await run(() => {
      throw new A2AError('INVALID_PARAMS', 'no')
    })
    assert.equal(health.get('a').breaker, 'closed')
    await run(unavailable)
    await run(() => 'fine')
    await run(unavailable)
    assert.equal(health.get('a').breaker, 'closed')
    await run(async function* () {
      yield 'a beginning'
      throw new Error('a bug')
    })
    assert.deepEqual([health.get('a').state, health.get('a').breaker], ['down', 'open'])
    pass(50)
    assert.deepEqual(
      [health.get('a').breaker, health.tryAcquire('a'), health.tryAcquire('a')],
      ['half-open', true, false],
    )
    await run(async () => 'fine')
    assert.deepEqual([health.get('a').state, health.tryAcquire('a'), health.tryAcquire('a')], ['up', true, true])
  })

  it('counts what its metadata marks as a failure, and what takes too long', async (t) => {
    const { health, run } = scene(t)
    await run(() => ({ ...fail('Try later'), metadata: { reason: 'RATE_LIMITED' } }))
    await run(() => new Promise(() => {}))
    assert.equal(health.get('a').breaker, 'open')
  })

  it('is slow when its first words usually are, and not for ever', async (t) => {
    const { health, run, pass } = scene(t)
    const slow: Agent = async function* () {
      pass(300)
      yield 'at last'
    }
    for (let count = 0; count < 3; count += 1) await run(slow)
    assert.deepEqual([health.get('a').state, health.get('a').firstWordMs], ['slow', 300])
    assert.equal(health.tryAcquire('a'), true)
    pass(500)
    assert.equal(health.get('a').state, 'up')
  })

  it('takes no status message for its first words', async (t) => {
    const { health, run, pass } = scene(t)
    const announcing: Agent = async function* () {
      yield { state: 'TASK_STATE_WORKING', message: 'Looking' }
      pass(300)
      yield 'at last'
    }
    for (let count = 0; count < 3; count += 1) await run(announcing)
    assert.deepEqual([health.get('a').state, health.get('a').firstWordMs], ['slow', 300])
  })
})
