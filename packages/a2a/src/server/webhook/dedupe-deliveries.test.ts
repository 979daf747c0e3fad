import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type IncomingDelivery, createDeliveryDeduplicator } from './dedupe-deliveries.ts'

const at = (id: string, over: Partial<IncomingDelivery> = {}): IncomingDelivery => ({
  taskId: 't1',
  event: { configId: 'p1', id },
  jwt: undefined,
  ...over,
})
const far = Date.now() + 1_000_000
const signed = (key: string, iat: number, expiresAt = far): IncomingDelivery => ({
  taskId: 't1',
  event: undefined,
  jwt: { key, iat, expiresAt, body: 'h' },
})

describe('deliveries', () => {
  it('are handled once for each config and task [B-133]', async () => {
    const { once } = createDeliveryDeduplicator(10)
    const handled: string[] = []
    const handle = (name: string) => async () => void handled.push(name)
    await once(at('1'), handle('first'))
    await once(at('1'), handle('again'))
    await once(at('1', { event: { configId: 'p2', id: '1' } }), handle('other config'))
    await once(at('1', { taskId: 't2' }), handle('other task'))
    assert.deepEqual(handled, ['first', 'other config', 'other task'])
  })

  it('of one task are handled one after the other, concurrently with others [B-133]', async () => {
    const { once } = createDeliveryDeduplicator(10)
    const handled: string[] = []
    const slow = Promise.withResolvers<void>()
    const first = once(at('1'), async () => {
      await slow.promise
      handled.push('1')
    })
    const second = once(at('2'), async () => void handled.push('2'))
    await once(at('1', { taskId: 't2' }), async () => void handled.push('other'))
    slow.resolve()
    await Promise.all([first, second])
    assert.deepEqual(handled, ['other', '1', '2'])
  })

  it('continue after one that failed, which may be repeated and is then late', async () => {
    const { once } = createDeliveryDeduplicator(10)
    const lates: boolean[] = []
    const failing = once(at('1'), async () => {
      throw new Error('no')
    })
    const next = once(at('2'), async (late) => void lates.push(late))
    await assert.rejects(failing, /no/)
    await next
    await once(at('1'), async (late) => void lates.push(late))
    await once(at('3'), async (late) => void lates.push(late))
    assert.deepEqual(lates, [false, true, false])
  })

  it('share the outcome of the one that is being handled', async () => {
    const { once } = createDeliveryDeduplicator(10)
    let count = 0
    const failure = Promise.withResolvers<void>()
    const handle = async () => {
      count++
      await failure.promise
    }
    const both = Promise.allSettled([once(at('1'), handle), once(at('1'), handle)])
    failure.reject(new Error('no'))
    assert.deepEqual(
      (await both).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.equal(count, 1)
  })

  it('are remembered up to a number, and a JWT that may have been forgotten is postponed, not handled again [B-133]', async () => {
    const { once } = createDeliveryDeduplicator(2)
    let count = 0
    const handle = async () => void count++
    for (const [key, iat] of [
      ['a', 10],
      ['b', 20],
      ['c', 30],
    ] as const)
      await once(signed(key, iat), handle)
    await assert.rejects(once(signed('a', 10), handle), { code: 'UNAVAILABLE' })
    await once(signed('b', 20), handle)
    await once(signed('d', 15), handle)
    assert.equal(count, 4)
  })

  it('with an expired JWT are evicted first', async () => {
    const { once } = createDeliveryDeduplicator(2)
    let count = 0
    const handle = async () => void count++
    for (const key of ['a', 'b', 'c', 'd']) await once(signed(key, 10, Date.now() - 1), handle)
    await once(signed('e', 5), handle)
    assert.equal(count, 5)
  })
})
