import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { anonymous, type Caller } from '@parley/a2a'
import type { Operation } from '@parley/a2a/internal'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import type { EndedCall } from '@parley/a2a/server'
import { createRateLimiter } from '../limits/rate-limiter.ts'
import { createTaskQuota } from '../limits/task-quota.ts'
import { admitRequest, type RateLimits, settleQuota } from './admit-request.ts'
import type { KeyRecord } from './key-format.ts'
import type { RequestIdentity } from './authenticate.ts'
import { testCall } from './testing/test-call.ts'

const minute = 60_000

function gate(given: Partial<RateLimits> = {}, start = Date.UTC(2030, 0, 1, 12)) {
  let now = start
  const clock = (): number => now
  const parts = {
    isAnonymousAllowed: (agent: string) => agent === 'open',
    rates: { perAgent: new Map(), ...given },
    limiter: createRateLimiter(clock),
    quota: createTaskQuota(memoryKeyValueStore(clock), clock),
    now: clock,
    monotonicNow: clock,
  }
  const ask = async (
    caller: Caller,
    { address = '192.0.2.1', ...data }: RequestIdentity & { readonly address?: string },
    operation?: Operation,
    agent = 'gpt',
  ) => {
    const call = testCall({}, { agent, data, operation, clientAddress: address })
    const { headers = {}, refuse } = await admitRequest({ ...call, caller }, parts)
    const answered = async (outcome: EndedCall['outcome'], taskId?: string): Promise<void> =>
      settleQuota({ outcome, taskId, data })
    return { headers, refuse, answered }
  }
  return { ask, parts, pass: (ms: number) => (now += ms), now: clock }
}

/** An id as the engine would have made it at that time. */
function idAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

const ann: Caller = { id: 'ann', scopes: ['agent:*'] }
const key = (more: Partial<KeyRecord> = {}): KeyRecord => ({
  ...{ id: 'k1', name: 'k', scopes: ['agent:*'], principal: 'ann', createdAt: 0, createdBy: 'admin', hash: '' },
  ...more,
})

describe('an admitted caller', () => {
  it('gets the remaining requests and the reset time with every response [S2-30]', async () => {
    const { ask, now } = gate({ perKey: { count: 60, windowMs: minute } })
    const { headers, refuse } = await ask(ann, {}, 'GetTask')
    assert.deepEqual(headers, {
      'x-ratelimit-limit': '60',
      'x-ratelimit-remaining': '59',
      'x-ratelimit-reset': String(now() / 1_000 + 1),
    })
    assert.equal(refuse, undefined)
  })

  it('is refused with when to come again, once too many have come [S2-30 B-170]', async () => {
    const { ask, pass } = gate({ perKey: { count: 2, windowMs: minute } })
    await ask(ann, {}, 'GetTask')
    await ask(ann, {}, 'SendMessage')
    const { headers, refuse } = await ask(ann, {}, 'GetTask')
    assert.deepEqual([refuse?.code, refuse?.details['retryAfterSeconds']], ['RATE_LIMITED', '30'])
    assert.equal(headers['x-ratelimit-remaining'], '0')
    pass(30_000)
    assert.equal((await ask(ann, {}, 'GetTask')).refuse, undefined)
  })

  it('is counted by key, by caller where there is none, and by address where there is no name', async () => {
    const once = { count: 1, windowMs: minute }
    const { ask } = gate({ perKey: once, perAddress: once })
    const isRefused = async (...given: Parameters<typeof ask>): Promise<boolean> =>
      (await ask(...given)).refuse !== undefined
    assert.deepEqual(
      [await isRefused(ann, { key: key() }), await isRefused(ann, { key: key({ id: 'k2' }) })],
      [false, false],
    )
    assert.deepEqual([await isRefused(ann, {}), await isRefused({ ...ann, id: 'bob' }, {})], [false, false])
    assert.deepEqual([await isRefused(ann, { key: key() }), await isRefused(ann, {})], [true, true])
    const from = (address: string): Promise<boolean> => isRefused(anonymous, { address }, 'SendMessage', 'open')
    assert.deepEqual(
      [await from('192.0.2.1'), await from('192.0.2.2'), await from('2001:db8::1'), await from('2001:db8::2')],
      [false, false, false, true],
    )
    assert.equal(await from('192.0.2.1'), true)
  })

  it('shares its rate with the keys that it created, and with those of before that act as it', async () => {
    const { ask } = gate({ perKey: { count: 3, windowMs: minute } })
    const own = { createdBy: 'ann', isCallerKey: true, principal: 'key:k1' } as const
    const remaining = async (...given: Parameters<typeof ask>): Promise<string | undefined> => {
      const { headers, refuse } = await ask(...given)
      return refuse?.code ?? headers['x-ratelimit-remaining']
    }
    const byKey: Caller = { ...ann, id: 'key:k1' }
    assert.equal(await remaining(ann, {}), '2')
    assert.equal(await remaining(byKey, { key: key(own) }), '1')
    assert.equal(await remaining(ann, { key: key({ id: 'k2', createdBy: 'ann' }) }), '0')
    assert.equal(await remaining(byKey, { key: key({ ...own, id: 'k3', principal: 'key:k3' }) }), 'RATE_LIMITED')
    // What an admin created, and a rate that an admin set, count by themselves.
    assert.equal(await remaining(byKey, { key: key({ id: 'k4' }) }), '2')
    assert.equal(await remaining(byKey, { key: key({ ...own, rate: { count: 9, windowMs: minute } }) }), '8')
  })

  it('opens as many tasks a day with all the keys that it created as with one', async () => {
    const { ask } = gate({ tasksPerDay: 2 })
    const own = { createdBy: 'ann', isCallerKey: true } as const
    const send = async (id: string, more: object = own): Promise<string | undefined> => {
      const record = key({ ...more, id, principal: `key:${id}` })
      return (await ask({ ...ann, id: `key:${id}` }, { key: record }, 'SendMessage')).refuse?.message
    }
    assert.deepEqual([await send('k1'), await send('k2')], [undefined, undefined])
    assert.match((await send('k3')) ?? '', /limit of 2 tasks per day/)
    assert.deepEqual([await send('k4', {}), await send('k4', {})], [undefined, undefined])
  })

  it('goes by the rate of its key, and shares that of the agent with all others', async () => {
    const { ask } = gate({
      perKey: { count: 1, windowMs: minute },
      perAgent: new Map([['gpt', { count: 3, windowMs: minute }]]),
    })
    const own = { key: key({ rate: { count: 100, windowMs: minute } }) }
    for (let count = 0; count < 3; count++) assert.equal((await ask(ann, own)).refuse, undefined)
    const { refuse, headers } = await ask(ann, own)
    assert.deepEqual([refuse?.code, headers['x-ratelimit-limit']], ['RATE_LIMITED', '3'])
    assert.equal((await ask({ ...ann, id: 'bob' }, {})).refuse?.code, 'RATE_LIMITED')
    assert.equal((await ask(ann, own, 'GetTask', 'other')).refuse, undefined)
  })

  it('may do what its scopes permit, and learns which one is missing [B-154]', async () => {
    const { ask } = gate()
    const reader = { ...ann, scopes: ['agent:*', 'operation:read'] }
    assert.equal((await ask(reader, {}, 'GetTask')).refuse, undefined)
    const { refuse } = await ask(reader, {}, 'SendMessage')
    assert.deepEqual([refuse?.code, refuse?.details['scope']], ['PERMISSION_DENIED', 'operation:SendMessage'])
    assert.match(String(refuse?.details['challenge']), /insufficient_scope/)
    assert.equal((await ask(anonymous, {}, 'SendMessage', 'open')).refuse, undefined)
    assert.equal((await ask(anonymous, {}, 'SendMessage')).refuse?.code, 'PERMISSION_DENIED')
  })

  it('may use the agents that its scopes name and those that are open, and learns nothing of others [B-153]', async () => {
    const hour = 60 * minute
    const { ask } = gate({
      perKey: { count: 100, windowMs: hour },
      perAgent: new Map([['gpt', { count: 1, windowMs: hour }]]),
    })
    const narrow = { ...ann, scopes: ['agent:team'] }
    for (const agent of ['team', 'open']) assert.equal((await ask(narrow, {}, 'GetTask', agent)).refuse, undefined)
    for (const agent of ['gpt', 'nowhere', 'gpt']) {
      const { refuse, headers } = await ask(narrow, {}, 'GetTask', agent)
      assert.deepEqual([refuse?.code, headers['x-ratelimit-limit']], ['PERMISSION_DENIED', '100'], agent)
    }
    assert.equal((await ask(ann, {}, 'GetTask')).refuse, undefined, 'others used up what the agent may be asked')
  })

  it('but not by us may do nothing', async () => {
    const { parts } = gate()
    const { refuse } = await admitRequest({ ...testCall({}, { agent: 'gpt' }), caller: ann }, parts)
    assert.equal(refuse?.code, 'PERMISSION_DENIED')
  })
})

describe('the tasks of a key', () => {
  it('are limited per day: further ones are refused until the next day, with the reset time [S2-30]', async () => {
    const { ask, now } = gate()
    const mine = { key: key({ tasksPerDay: 2 }) }
    for (let count = 0; count < 2; count++) {
      const { refuse, answered } = await ask(ann, mine, 'SendMessage')
      assert.equal(refuse, undefined)
      await answered('OK', idAt(now()))
    }
    const { refuse, headers } = await ask(ann, mine, 'SendStreamingMessage')
    assert.deepEqual(
      [refuse?.code, refuse?.details.reason, refuse?.details['retryAfterSeconds']],
      ['RATE_LIMITED', 'QUOTA_EXCEEDED', String(12 * 3_600)],
    )
    assert.deepEqual(
      [headers['x-ratelimit-limit'], headers['x-ratelimit-reset']],
      ['2', String(Date.UTC(2030, 0, 2) / 1_000)],
    )
    assert.equal((await ask(ann, mine, 'GetTask')).refuse, undefined)
    assert.equal((await ask(ann, { key: key({ id: 'k2', tasksPerDay: 2 }) }, 'SendMessage')).refuse, undefined)
  })

  it('are counted when they are opened: not for a refusal, a direct answer or a message that goes on with one', async () => {
    const { ask, now, pass } = gate({ tasksPerDay: 1 })
    const old = idAt(now())
    pass(1_000)
    const ends: readonly (readonly [EndedCall['outcome'], string?])[] = [['INVALID_PARAMS'], ['OK'], ['OK', old]]
    for (const end of ends) {
      const { refuse, answered } = await ask(ann, { key: key() }, 'SendMessage')
      assert.equal(refuse, undefined)
      await answered(...end)
    }
    await (await ask(ann, { key: key() }, 'SendMessage')).answered('OK', idAt(now()))
    assert.equal((await ask(ann, { key: key() }, 'SendMessage')).refuse?.code, 'RATE_LIMITED')
  })
})
