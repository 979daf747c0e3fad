import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createUnsentBytes } from './unsent-bytes.ts'

const limits = { unsentBytes: 1_000, unsentBytesPerCaller: 400 }

describe('bytes that readers have not taken', () => {
  it('count once, however many readers share them', () => {
    const unsent = createUnsentBytes(limits)
    const [first, second, other] = [unsent.open('a'), unsent.open('a'), unsent.open('b')]
    const shared = {}
    for (const account of [first, second, other]) account.hold(shared, 300)
    first.setOwn(10)
    assert.equal(unsent.unsentBytes, 310)
    first.setOwn(4)
    first.close()
    assert.equal(unsent.unsentBytes, 300)
    second.release(shared)
    assert.equal(unsent.unsentBytes, 300)
    other.close()
    assert.equal(unsent.unsentBytes, 0)
  })

  it('are bounded for one caller, whose other readers may share what it holds', () => {
    const unsent = createUnsentBytes(limits)
    const [first, second, other] = [unsent.open('a'), unsent.open('a'), unsent.open('b')]
    const large = {}
    assert.ok(first.mayHold(large), 'one thing may always be held, however large it turns out')
    first.hold(large, 900)
    assert.equal(second.mayHold(), false)
    assert.equal(second.mayHold({}), false)
    assert.ok(second.mayHold(large))
    assert.ok(other.mayHold())
    other.hold({}, 200)
    assert.equal(unsent.unsentBytes, 1_100)
    assert.equal(other.mayHold(), false, 'the server is full')
    assert.ok(other.mayHold(large), 'what others hold costs the server nothing')
  })

  it('of a few callers do not silence others who hold little', async () => {
    const unsent = createUnsentBytes({ unsentBytes: 1_000, unsentBytesPerCaller: 640 })
    for (const caller of ['a', 'b']) unsent.open(caller).hold({}, 600)
    const small = unsent.open('c')
    assert.deepEqual([small.mayPull(), small.mayHold()], [true, false])
    // Over a 64th of what one caller may hold it is not little any more.
    small.setOwn(10)
    assert.equal(small.mayPull(), false)
    let resumed = 0
    small.pause(() => void (resumed += 1), 'pull')
    const large = unsent.open('d')
    large.pause(() => assert.fail('there is no room for anything large'))
    await turn()
    assert.equal(resumed, 0)
    small.setOwn(9)
    await turn()
    assert.equal(resumed, 1)
    // The reserve has an end, too.
    unsent.open('e').hold({}, 50)
    assert.equal(unsent.open('f').mayPull(), false)
    large.close()
  })

  it('are waited for in order, one reader at a time, and no more than there is room for', async () => {
    const unsent = createUnsentBytes(limits)
    const holder = unsent.open('a')
    const held = {}
    holder.hold(held, 500)
    const resumed: string[] = []
    for (const name of ['first', 'second', 'third']) {
      const account = unsent.open('a')
      account.pause(() => {
        resumed.push(name)
        account.setOwn(250)
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

  it('are not waited for by readers that are gone', async () => {
    const unsent = createUnsentBytes(limits)
    const holder = unsent.open('a')
    holder.setOwn(500)
    const [gone, left] = [unsent.open('a'), unsent.open('a')]
    gone.pause(() => assert.fail('resumed'))
    const leaving = new AbortController()
    const waiting = left.room(leaving.signal)
    gone.close()
    leaving.abort()
    await waiting
    assert.equal(unsent.paused, 0)
    holder.close()
    await turn()
    assert.equal(unsent.unsentBytes, 0)
  })
})
