import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { A2AError } from '../../model/error.ts'
import { openResponseMemory } from './response-memory.ts'
import { createUnsentBytes, type ReaderAccount } from './reader-limits.ts'

const megabyte = 1_000_000
const limits = { unsentBytes: 20 * megabyte, unsentBytesPerCaller: 5 * megabyte }
const bytesOf = (text: string): number => text.length

async function rest(): Promise<void> {
  for (let count = 0; count < 20; count += 1) await turn()
}

describe('the memory of a response', () => {
  it('is reserved before a large value is read, and held until the client has the response', async () => {
    const unsent = createUnsentBytes(limits)
    const steps: string[] = []
    const open = (name: string) => {
      const memory = openResponseMemory(unsent, 'a', new AbortController().signal)
      const value = memory.read(async ({ admitRead }) => {
        steps.push(`${name} asks`)
        await admitRead(2 * megabyte)
        steps.push(`${name} reads`)
        return 'x'.repeat(2 * megabyte)
      }, bytesOf)
      return { memory, value }
    }
    const first = open('first')
    const second = open('second')
    assert.equal((await first.value).length, 2 * megabyte)
    await rest()
    assert.deepEqual(steps, ['first asks', 'second asks', 'first reads'])
    // What the response takes, and no longer what reading took.
    const bytes = await first.memory.encode('x'.repeat(2 * megabyte))
    await second.value
    assert.equal(unsent.unsentBytes, bytes.length + 6 * megabyte)
    first.memory.release()
    second.memory.release()
    assert.deepEqual([unsent.unsentBytes, unsent.paused], [0, 0])
  })

  it('counts a value that was in memory, which is read again once there is room', async () => {
    const unsent = createUnsentBytes(limits)
    const other = unsent.open('a')
    other.setOwnBytes(5 * megabyte)
    const memory = openResponseMemory(unsent, 'a', new AbortController().signal)
    let reads = 0
    const value = memory.read(async () => {
      reads += 1
      return 'x'.repeat(megabyte)
    }, bytesOf)
    await rest()
    assert.deepEqual([reads, unsent.paused], [1, 1])
    other.close()
    assert.equal((await value).length, megabyte)
    assert.equal(reads, 2)
    memory.release()
    assert.equal(unsent.unsentBytes, 0)
  })

  it('of a short value is not counted', async () => {
    const unsent = createUnsentBytes(limits)
    const memory = openResponseMemory(unsent, 'a', new AbortController().signal)
    assert.equal(await memory.read(async () => 'short', bytesOf), 'short')
    assert.equal(Buffer.from(await memory.encode({ text: 'é' })).toString(), '{"text":"é"}')
    assert.equal(unsent.unsentBytes, 0)
    memory.release()
  })

  it('waits for its first large part only, and refuses those that exceed the budget of the caller', async () => {
    const unsent = createUnsentBytes(limits)
    const memory = openResponseMemory(unsent, 'a', new AbortController().signal)
    const read = () =>
      memory.part().read(async ({ admitRead }) => {
        await admitRead(megabyte)
        return ''
      }, bytesOf)
    const results = await Promise.allSettled([read(), read(), read(), read()])
    assert.deepEqual(
      results.map((one) => (one.status === 'rejected' ? (one.reason as A2AError).code : 'read')),
      ['read', 'read', 'UNAVAILABLE', 'UNAVAILABLE'],
    )
    assert.equal(unsent.unsentBytes, 6 * megabyte)
    memory.release()
    assert.equal(unsent.unsentBytes, 0)
  })

  it('has the value of a part that was read last', async () => {
    const unsent = createUnsentBytes(limits)
    const memory = openResponseMemory(unsent, 'a', new AbortController().signal)
    for (const size of [1, 3, 2]) {
      await memory.read(async ({ admitRead }) => String(await admitRead(size * megabyte)), bytesOf)
      assert.equal(unsent.unsentBytes, 3 * size * megabyte)
    }
    memory.release()
    assert.equal(unsent.unsentBytes, 0)
  })

  it('is not waited for by a client that has gone', async () => {
    const unsent = createUnsentBytes(limits)
    const other = unsent.open('a')
    other.setOwnBytes(5 * megabyte)
    const leaving = new AbortController()
    const memory = openResponseMemory(unsent, 'a', leaving.signal)
    const value = memory.read(async ({ admitRead }) => String(await admitRead(megabyte)), bytesOf)
    leaving.abort()
    memory.release()
    await assert.rejects(value, { code: 'UNAVAILABLE' })
    assert.equal(unsent.unsentBytes, 5 * megabyte)
    other.close()
  })

  it('opens no account that stays open for a client that had already gone', async () => {
    const unsent = createUnsentBytes(limits)
    const accounts: ReaderAccount[] = []
    const open = (caller: string): ReaderAccount => {
      const account = unsent.open(caller)
      accounts.push(account)
      return account
    }
    const memory = openResponseMemory({ ...unsent, open }, 'a', AbortSignal.abort())
    memory.release()
    await assert.rejects(
      memory.read(async ({ admitRead }) => String(await admitRead(megabyte)), bytesOf),
      { code: 'UNAVAILABLE' },
    )
    for (const account of accounts) account.setOwnBytes(1)
    assert.deepEqual([accounts.length, unsent.unsentBytes], [1, 0], 'a closed account counts nothing')
  })
})
