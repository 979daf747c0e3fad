/** Ports of agents that change while the server runs: when each is closed, and what happens if one is in use. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openGrpcListeners } from './grpc-listeners.ts'

/** Agents that request ports, the ports of one host, and a clock that the test controls. */
async function open(wanted: Record<string, number> = {}) {
  const steps: string[] = []
  const logged: string[] = []
  const taken = new Set<number>()
  const timers = new Set<{ readonly run: () => void; readonly ms: number }>()
  let agents = wanted
  let changed = (): void => {}
  let nextFree = 50_000
  const note =
    (level: string) =>
    (message: string): void =>
      void logged.push(`${level}: ${message}`)
  const listeners = await openGrpcListeners({
    handler: {
      wantedPorts: () => new Map(Object.entries(agents)),
      onAgentsChanged: (listener) => void (changed = listener),
    },
    port: undefined,
    async listen(asked, agent) {
      const port = asked === 0 ? nextFree++ : asked
      if (taken.has(port)) throw new Error(`${port} is taken`)
      taken.add(port)
      steps.push(`${agent} opens ${port}`)
      const release = (): void => {
        if (taken.delete(port)) steps.push(`${agent} closes ${port}`)
      }
      return { address: '', port, answering: () => 0, drain: async () => release(), close: release }
    },
    log: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    later(run, ms) {
      const timer = { run, ms }
      timers.add(timer)
      return () => timers.delete(timer)
    },
  })
  return {
    listeners,
    steps,
    logged,
    taken,
    async change(next: Record<string, number>) {
      agents = next
      steps.length = 0
      changed()
      await listeners.settled()
      return listeners.agentPorts()
    },
    /** Fires the only timer; returns its delay. */
    async retry(): Promise<number> {
      const [timer] = timers
      assert.ok(timer !== undefined && timers.size === 1)
      timers.delete(timer)
      timer.run()
      await listeners.settled()
      return timer.ms
    },
    timers: () => timers.size,
  }
}

describe('the gRPC port of an agent that moves', () => {
  it('is closed when the new one is open', async () => {
    const { change, steps } = await open({ ann: 1 })
    assert.deepEqual(await change({ ann: 2 }), { ann: 2 })
    assert.deepEqual(steps, ['ann opens 2', 'ann closes 1'])
  })

  it('stays open while the new one is taken', async () => {
    const { change, steps, taken } = await open({ ann: 1 })
    taken.add(2)
    assert.deepEqual(await change({ ann: 2 }), { ann: 1 })
    assert.deepEqual(steps, [])
  })

  it('is closed first if another agent needs it', async () => {
    const { change, steps } = await open({ ann: 1, bob: 2 })
    assert.deepEqual(await change({ ann: 2, bob: 1 }), { ann: 2, bob: 1 })
    assert.deepEqual(steps, ['ann closes 1', 'bob closes 2', 'ann opens 2', 'bob opens 1'])
    assert.deepEqual(await change({ ann: 3, bob: 2 }), { bob: 2, ann: 3 })
    assert.deepEqual(await change({ bob: 3 }), { bob: 3 })
    assert.deepEqual(steps, ['ann closes 3', 'bob opens 3', 'bob closes 2'])
  })

  it('is kept if it is requested again', async () => {
    const { change, steps } = await open({ ann: 0 })
    assert.deepEqual(await change({ ann: 50_000 }), { ann: 50_000 })
    assert.deepEqual(await change({ ann: 0 }), { ann: 50_000 })
    assert.deepEqual(steps, [])
  })
})

describe('a gRPC port in use', () => {
  it('is retried with growing pauses, up to a minute, and reported once', async () => {
    const { change, retry, taken, logged, timers, listeners } = await open()
    taken.add(2)
    assert.deepEqual(await change({ ann: 2 }), {})
    const delays: number[] = []
    for (let count = 0; count < 8; count++) delays.push(await retry())
    assert.deepEqual(delays, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
    taken.delete(2)
    await retry()
    assert.deepEqual(listeners.agentPorts(), { ann: 2 })
    assert.equal(timers(), 0)
    assert.deepEqual(
      logged.filter((line) => !line.startsWith('debug')),
      ['error: Port 2 cannot be opened for gRPC', 'info: Port 2 is now open for gRPC'],
    )
  })

  it('is retried at once when agents change, and no longer when it is not needed', async () => {
    const { change, retry, taken, timers } = await open({ ann: 1 })
    taken.add(2)
    await change({ ann: 2 })
    await retry()
    await change({ ann: 2, bob: 3 })
    assert.equal(await retry(), 1_000)
    assert.deepEqual(await change({ ann: 1, bob: 3 }), { ann: 1, bob: 3 })
    assert.equal(timers(), 0)
  })

  it('is abandoned with the server', async () => {
    for (const way of ['drain', 'close'] as const) {
      const { change, taken, timers, listeners } = await open({ ann: 1 })
      taken.add(2)
      await change({ ann: 2 })
      assert.equal(timers(), 1)
      await listeners[way]()
      assert.equal(timers(), 0)
      taken.delete(2)
      await change({ ann: 2 })
      assert.deepEqual([...taken], [], 'nothing is opened any more')
    }
  })
})
