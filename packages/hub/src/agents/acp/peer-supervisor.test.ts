import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAcpPeerSupervisor } from './peer-supervisor.ts'
import type { AcpPeer } from './peer.ts'

const never = new AbortController().signal

/** Programs that end when the test ends them, and a clock that advances while it is awaited. */
function bench(fails: (start: number) => boolean = () => false) {
  let at = 0
  const starts: number[] = []
  const ends: (() => void)[] = []
  const stopped: number[] = []
  const supervisor = createAcpPeerSupervisor({
    monotonicNow: () => at,
    firstBackoffMs: 5,
    maxBackoffMs: 15,
    stableAfterMs: 1_000,
    async open() {
      const start = starts.push(performance.now())
      if (fails(start)) throw new Error(`start ${start} failed`)
      const closed = Promise.withResolvers<void>()
      ends.push(closed.resolve)
      return {
        closed: closed.promise,
        capabilities: {},
        async stop() {
          stopped.push(start)
          closed.resolve()
        },
      } as unknown as AcpPeer
    },
  })
  return { supervisor, starts, ends, stopped, pass: (ms: number) => void (at += ms) }
}
const waits = (starts: readonly number[]): readonly number[] =>
  starts.slice(1).map((start, index) => start - (starts[index] ?? 0))

describe('the program of an agent', () => {
  it('is started once for all who need it, and again when it is needed after its end', async () => {
    const { supervisor, starts, ends, pass } = bench()
    const [one, other] = await Promise.all([supervisor.peer(never), supervisor.peer(never)])
    assert.equal(one, other)
    assert.equal(supervisor.current, one)
    pass(2_000)
    ends[0]?.()
    await one.closed
    assert.equal(supervisor.current, undefined)
    assert.notEqual(await supervisor.peer(never), one)
    assert.equal(starts.length, 2)
    await supervisor.close()
  })

  it('that cannot start is retried at growing intervals, and every waiting turn fails', async () => {
    const { supervisor, starts } = bench((start) => start < 5)
    for (let start = 1; start < 5; start += 1) {
      await assert.rejects(supervisor.peer(never), new RegExp(`start ${start} failed`))
    }
    await supervisor.peer(never)
    const [first = 0, second = 0, third = 0, fourth = 0] = waits(starts)
    assert.ok(first >= 4 && second >= 9 && third >= 14 && fourth >= 14, `waited ${waits(starts).join(', ')}`)
    await supervisor.close()
  })

  it('that ends as soon as it has begun is not started again at once', async () => {
    const { supervisor, starts, ends } = bench()
    const peer = await supervisor.peer(never)
    ends[0]?.()
    await peer.closed
    await supervisor.peer(never)
    assert.ok((waits(starts)[0] ?? 0) >= 4)
    await supervisor.close()
  })

  it('that is retired is replaced at once, and stopped when its last user has finished', async () => {
    const { supervisor, stopped } = bench()
    const worn = await supervisor.peer(never)
    const [one, other] = [supervisor.retain(worn), supervisor.retain(worn)]
    supervisor.retire(worn)
    assert.notEqual(await supervisor.peer(never), worn)
    one()
    assert.deepEqual(stopped, [])
    other()
    assert.deepEqual(stopped, [1])
    await supervisor.close()
  })

  it('is no longer awaited by an aborted caller', async () => {
    const { supervisor } = bench((start) => start === 1)
    await assert.rejects(supervisor.peer(never))
    const leaving = new AbortController()
    const waiting = supervisor.peer(leaving.signal)
    leaving.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
    await supervisor.close()
  })

  it('is stopped with its supervisor, which then has none', async () => {
    const { supervisor, stopped } = bench()
    await supervisor.peer(never)
    await supervisor.close()
    assert.ok(stopped.includes(1))
    await assert.rejects(supervisor.peer(never), { code: 'UNAVAILABLE' })
  })

  it('is not started again once its supervisor is closed', async () => {
    const { supervisor, starts } = bench(() => true)
    await assert.rejects(supervisor.peer(never))
    const waiting = supervisor.peer(never)
    await supervisor.close()
    await assert.rejects(waiting, { code: 'UNAVAILABLE' })
    assert.equal(starts.length, 1)
  })
})
