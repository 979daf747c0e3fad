import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { respondWithinBudget } from '../calls/perform-operation.ts'
import { createUnsentBytes } from './reader-limits.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

interface Value {
  readonly text: string
}

function setUp() {
  const unsent = createUnsentBytes({ unsentBytes: 1_000_000, unsentBytesPerCaller: 100_000 })
  const holder = unsent.open('a')
  holder.hold({}, 200_000)
  const leaving = new AbortController()
  const reader = (isCopied = false) => {
    const account = unsent.open('a')
    return { account, takeAccount: () => account, signal: leaving.signal, isCopied }
  }
  let asked = 0
  const encode = ({ text }: Value) => new TextEncoder().encode(text)
  const answer = {
    sizeOf: ({ text }: Value) => text.length,
    encode,
    encodeInSteps: async (value: Value) => encode(value),
    async reload() {
      asked += 1
      return { text: 'y'.repeat(50_000) }
    },
  }
  return { unsent, holder, leaving, reader, answer, asked: () => asked }
}

describe('a large response that waits for budget', () => {
  it('does not hold its value meanwhile, and requests it again', async () => {
    const { holder, reader, answer, asked } = setUp()
    const first = new WeakRef<Value>({ text: 'x'.repeat(50_000) })
    const answered = respondWithinBudget(reader(), first.deref() as Value, answer)
    await turn()
    collect()
    await turn()
    collect()
    assert.equal(first.deref(), undefined, 'the value is still referred to')
    assert.equal(asked(), 0)
    holder.close()
    const made = await answered
    assert.ok(typeof made === 'object' && made.bytes.length === 50_000)
    assert.equal(asked(), 1)
    made.account.close()
  })

  it('counts for each reader if the binding copies it, and the next one waits', async () => {
    const { unsent, reader, answer, holder } = setUp()
    holder.close()
    const bytes = new Uint8Array(50_000)
    const respond = () =>
      respondWithinBudget(reader(true), { text: 'x'.repeat(50_000) }, { ...answer, encode: () => bytes })
    await Promise.all([respond(), respond()])
    void respond()
    await turn()
    assert.deepEqual([unsent.unsentBytes, unsent.paused], [100_000, 1])
  })

  it('does not wait if the memory of its value was reserved before it was read', async () => {
    const { unsent, holder, reader, answer, asked } = setUp()
    const reserved = reader()
    const reserving = reserved.account.reserve(50_000, reserved.signal)
    await turn()
    assert.equal(unsent.paused, 1)
    holder.close()
    await reserving
    const other = unsent.open('a')
    other.setOwnBytes(90_000)
    const made = await respondWithinBudget(reserved, { text: 'x'.repeat(50_000) }, answer)
    assert.ok(typeof made === 'object')
    assert.deepEqual([unsent.unsentBytes, asked()], [140_000, 0])
    made.account.close()
    assert.equal(unsent.unsentBytes, 90_000)
  })

  it('is not encoded to its end if its reader leaves', async () => {
    const { unsent, holder, reader, answer, leaving } = setUp()
    holder.close()
    const left = reader()
    let steps = 0
    async function encodeInSteps(_value: Value, nextStep: () => Promise<void>): Promise<Uint8Array> {
      for (;;) {
        steps += 1
        if (steps === 3) leaving.abort()
        await nextStep()
      }
    }
    const answered = respondWithinBudget(left, { text: 'x'.repeat(600_000) }, { ...answer, encodeInSteps })
    await assert.rejects(async () => answered, { code: 'UNAVAILABLE' })
    assert.equal(steps, 3)
    left.account.close()
    assert.equal(unsent.unsentBytes, 0)
  })

  it('is dropped if its reader leaves, and fails if its value is gone', async () => {
    const left = setUp()
    const leaving = left.reader()
    const dropped = respondWithinBudget(leaving, { text: 'x'.repeat(50_000) }, left.answer)
    left.leaving.abort()
    await assert.rejects(async () => dropped, { code: 'UNAVAILABLE' })
    assert.deepEqual([left.asked(), left.unsent.paused], [0, 0])
    await assert.rejects(() => leaving.account.reserve(1, leaving.signal), { code: 'UNAVAILABLE' })

    const lost = setUp()
    const again = (): Promise<Value> => Promise.reject(new Error('gone'))
    const losing = lost.reader()
    const failed = respondWithinBudget(losing, { text: 'x'.repeat(50_000) }, { ...lost.answer, reload: again })
    lost.holder.close()
    await assert.rejects(async () => failed, /gone/)
    losing.account.close()
    assert.deepEqual([lost.unsent.unsentBytes, lost.unsent.paused], [0, 0])
  })

  it('is read only once more, although others ask for the same room', async () => {
    const { unsent, holder, reader, answer } = setUp()
    let reads = 0
    const slowly = {
      ...answer,
      async reload() {
        reads += 1
        // A store that answers after a while.
        for (let count = 0; count < 5; count += 1) await turn()
        return { text: 'y'.repeat(90_000) }
      },
    }
    const taken = Array.from({ length: 4 }, async () => {
      const made = await respondWithinBudget(reader(), { text: 'x'.repeat(90_000) }, slowly)
      assert.ok(typeof made === 'object')
      assert.ok(unsent.unsentBytes <= 180_000, `${unsent.unsentBytes} bytes are held`)
      // A client that takes its time.
      for (let count = 0; count < 20; count += 1) await turn()
      made.account.close()
    })
    holder.close()
    await Promise.all(taken)
    assert.equal(reads, 4)
  })
})
