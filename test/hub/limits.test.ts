/** Rate limits and quotas: the headers that callers receive, and the refusals beyond the limits, over real sockets. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { limitConcurrency } from '../../packages/hub/src/limits/limit-concurrency.ts'
import { openAccessServer, messageParams, bindingVersions } from './access-server.ts'

const limit = 'x-ratelimit-limit'
const remaining = 'x-ratelimit-remaining'
const reset = 'x-ratelimit-reset'

const echo = { agent: ({ text }: { text: string }) => text }

describe('every response to an authenticated caller', () => {
  it('has the limit, the remaining requests and the reset time in epoch seconds [S2-30]', async () => {
    const { peer, key, get } = await openAccessServer({
      agents: { echo, open: echo },
      access: { anonymous: ['open'] },
      limits: { perKey: '1000/h', perAddress: '500/h' },
    })
    const proof = await key({ agents: ['echo'] })
    for (const way of bindingVersions) {
      const team = peer('echo', way)
      const answers = [
        await team.call('SendMessage', messageParams('hi'), { headers: proof }),
        await team.call('GetTask', { id: 'none' }, { headers: proof }),
        await team.stream('SendStreamingMessage', messageParams('hi'), { headers: proof }),
      ]
      for (const { headers } of answers) {
        assert.equal(headers.get(limit), '1000')
        assert.ok(Number(headers.get(remaining)) < 1_000)
        const seconds = Number(headers.get(reset)) - Date.now() / 1_000
        assert.ok(seconds > 0 && seconds < 3_600, `${seconds}`)
      }
      assert.equal((await peer('open', way).call('SendMessage', messageParams('hi'))).headers.get(limit), '500')
    }
    const odd = await get('/a2a/echo/tasks/none', proof)
    assert.deepEqual([odd.status, odd.headers.get(limit)], [404, '1000'])
  })

  it('counts down by one with each request of its key', async () => {
    const { peer, key } = await openAccessServer({ agents: { echo }, limits: { perKey: '100/h' } })
    const [mine, other] = [await key({ agents: ['echo'] }), await key({ agents: ['echo'] })]
    const left = async (headers: typeof mine): Promise<string | null> =>
      (await peer('echo', bindingVersions[0]!).call('GetTask', { id: 'x' }, { headers })).headers.get(remaining)
    assert.deepEqual([await left(mine), await left(mine), await left(other)], ['99', '98', '99'])
  })
})

describe('too many requests', () => {
  it('are refused with 429, Retry-After and the same headers, in every version and binding [S2-30 B-170]', async () => {
    const { peer, key } = await openAccessServer({ agents: { echo } })
    for (const way of bindingVersions) {
      const headers = await key({ agents: ['echo'], rate: '2/h' })
      const team = peer('echo', way)
      for (let count = 0; count < 2; count++) await team.call('GetTask', { id: 'x' }, { headers })
      const refused = await team.call('SendMessage', messageParams('hi'), { headers })
      // 8 is the gRPC code for 429.
      assert.ok([429, 8].includes(refused.status), `${refused.status}`)
      assert.deepEqual([refused.headers.get(limit), refused.headers.get(remaining)], ['2', '0'])
      assert.equal(refused.headers.get('retry-after'), '1800')
      assert.match(JSON.stringify(refused.body), /Too many requests/)
    }
  })

  it('of all callers together are refused if the agent has a limit', async () => {
    const { peer, key } = await openAccessServer({ agents: { echo }, limits: { perAgent: { echo: { rate: '3/h' } } } })
    const statuses: number[] = []
    for (let count = 0; count < 4; count++) {
      const headers = await key({ agents: ['echo'] })
      statuses.push(
        (await peer('echo', bindingVersions[1]!).call('SendMessage', messageParams('hi'), { headers })).status,
      )
    }
    assert.deepEqual(statuses, [200, 200, 200, 429])
  })
})

describe('the daily task quota', () => {
  it('limits the tasks of a key, without direct replies and follow-ups [S2-30]', async () => {
    const agent = ({ text }: { text: string }) => (text === 'hi' ? { reply: 'hi' } : text)
    const { peer, key } = await openAccessServer({ agents: { echo: { agent } } })
    for (const way of bindingVersions) {
      const headers = await key({ agents: ['echo'], tasksPerDay: 2 })
      const echoing = peer('echo', way)
      const send = async (text: string) => echoing.call('SendMessage', messageParams(text), { headers })
      for (let count = 0; count < 3; count++) assert.equal((await send('hi')).status, 200)
      assert.deepEqual([(await send('one')).status, (await send('two')).status], [200, 200])
      const refused = await send('three')
      assert.ok([429, 8].includes(refused.status), `${refused.status}`)
      assert.match(JSON.stringify(refused.body), /2 tasks per day/)
      assert.ok(![429, 8].includes((await echoing.call('GetTask', { id: 'x' }, { headers })).status))
    }
  })
})

describe('an agent with one concurrent turn', () => {
  it('refuses messages beyond its queue with 503 and Retry-After, in every version and binding [S4-12]', async () => {
    const done = Promise.withResolvers<void>()
    const began = Promise.withResolvers<void>()
    const agent = limitConcurrency(
      async ({ text }) => {
        began.resolve()
        if (text === 'long') await done.promise
        return text
      },
      { concurrent: 1, queue: 0 },
    )
    const { peer, key } = await openAccessServer({ agents: { echo: { agent } } })
    const headers = await key({ agents: ['echo'] })
    const long = peer('echo', bindingVersions[0]!).call('SendMessage', messageParams('long'), { headers })
    await began.promise
    for (const way of bindingVersions) {
      const {
        status,
        headers: refusedHeaders,
        body,
      } = await peer('echo', way).call('SendMessage', messageParams('more'), { headers })
      // 14 is the gRPC code for 503.
      assert.ok([503, 14].includes(status), `${status}`)
      assert.equal(refusedHeaders.get('retry-after'), '5')
      assert.match(JSON.stringify(body), /busy/)
    }
    done.resolve()
    assert.equal((await long).status, 200)
  })
})
