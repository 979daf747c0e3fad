import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { heavyStep } from '../../model/heavy-step.ts'
import { createUnsentBytes } from './reader-limits.ts'

const limits = { unsentBytes: 1_000, unsentBytesPerCaller: 400 }

describe('unsent bytes', () => {
  it('count once, however many readers share them', () => {
    const unsent = createUnsentBytes(limits)
    const [first, second, other] = [unsent.open('a'), unsent.open('a'), unsent.open('b')]
    const shared = {}
    for (const account of [first, second, other]) account.hold(shared, 300)
    first.setOwnBytes(10)
    assert.equal(unsent.unsentBytes, 310)
    first.setOwnBytes(4)
    first.close()
    assert.equal(unsent.unsentBytes, 300)
    second.release(shared)
    assert.equal(unsent.unsentBytes, 300)
    other.close()
    assert.equal(unsent.unsentBytes, 0)
  })

  it('are limited per caller, whose other readers may share them', () => {
    const unsent = createUnsentBytes(limits)
    const [first, second, other] = [unsent.open('a'), unsent.open('a'), unsent.open('b')]
    const large = {}
    assert.ok(first.canHold(large), 'one thing may always be held, however large it turns out')
    first.hold(large, 900)
    assert.equal(second.canHold(), false)
    assert.equal(second.canHold({}), false)
    assert.ok(second.canHold(large))
    assert.ok(other.canHold())
    other.hold({}, 200)
    assert.equal(unsent.unsentBytes, 1_100)
    assert.equal(other.canHold(), false, 'the server is full')
    assert.ok(other.canHold(large), 'what others hold costs the server nothing')
  })

  it('of a few callers do not block others that hold little', async () => {
    const unsent = createUnsentBytes({ unsentBytes: 1_000, unsentBytesPerCaller: 640 })
    for (const caller of ['a', 'b']) unsent.open(caller).hold({}, 600)
    const small = unsent.open('c')
    assert.deepEqual([small.canPull(), small.canHold()], [true, false])
    // More than a 64th of a caller's budget does not count as little.
    small.setOwnBytes(10)
    assert.equal(small.canPull(), false)
    let resumed = 0
    small.pause(() => void (resumed += 1), 'pull')
    const large = unsent.open('d')
    large.pause(() => assert.fail('there is no budget for a large item'))
    await turn()
    assert.equal(resumed, 0)
    small.setOwnBytes(9)
    await turn()
    assert.equal(resumed, 1)
    // The reserve is limited, too.
    unsent.open('e').hold({}, 50)
    assert.equal(unsent.open('f').canPull(), false)
    large.close()
  })

  it('are waited for in order, one reader at a time, within the budget', async () => {
    const unsent = createUnsentBytes(limits)
    const holder = unsent.open('a')
    const held = {}
    holder.hold(held, 500)
    const resumed: string[] = []
    for (const name of ['first', 'second', 'third']) {
      const account = unsent.open('a')
      account.pause(() => {
        resumed.push(name)
        account.setOwnBytes(250)
      })
    }
    const elsewhere = unsent.open('b')
    elsewhere.pause(() => resumed.push('of another caller'))
    assert.equal(unsent.paused, 4)
    await turn()
    assert.deepEqual(resumed, ['of another caller'])
    holder.release(held)
    for (let count = 0; count < 5; count += 1) await turn()
    assert.deepEqual(resumed, ['of another caller', 'first', 'second'])
    assert.equal(unsent.paused, 1)
  })

  it('are not waited for by disconnected readers', async () => {
    const unsent = createUnsentBytes(limits)
    const holder = unsent.open('a')
    holder.setOwnBytes(500)
    const [gone, left] = [unsent.open('a'), unsent.open('a')]
    gone.pause(() => assert.fail('resumed'))
    const leaving = new AbortController()
    const waiting = left.waitForRoom(leaving.signal)
    gone.close()
    leaving.abort()
    await waiting
    assert.equal(unsent.paused, 0)
    holder.close()
    await turn()
    assert.equal(unsent.unsentBytes, 0)
  })

  it('of a value that is read at once wait for no heavy step', async () => {
    const account = createUnsentBytes(limits).open('a')
    const { signal } = new AbortController()
    const order: string[] = []
    const read = (bytes: number): Promise<unknown> =>
      account.admitRead(bytes, signal, false).then(() => order.push(`${bytes} bytes`))
    const begun = Array.from({ length: 3 }, () => heavyStep('b').then(() => order.push('a step')))
    await Promise.all([...begun, read(5_000_000), read(100_000)])
    assert.deepEqual(order, ['100000 bytes', 'a step', 'a step', 'a step', '5000000 bytes'])
    account.close()
  })
})
