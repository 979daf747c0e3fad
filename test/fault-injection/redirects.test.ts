/** Servers that redirect: in circles, to other origins, or to forbidden addresses. */
import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { discover } from '@parley/a2a/client'
import type { ConnectOptions } from '@parley/a2a/client'
import { endsTyped, failsWith, faultCase, limits } from './fault-case.ts'
import type { Exchange } from './exchange.ts'
import type { FaultyServer } from './faulty-server.ts'
import { events, taskAfter, taskId } from './sample-task.ts'

const to = (exchange: Exchange, location: string, status = 302): void =>
  exchange.answer(status, { location, 'content-type': 'text/html' }, '<a href="elsewhere">moved</a>')

describe('a card that redirects', () => {
  for (const status of [301, 302, 303, 307, 308]) {
    faultCase(`with status ${status} is followed`, async ({ open, connect }) => {
      const server = await open((exchange) => {
        if (exchange.path === '/moved.json') return exchange.json(server.card)
        to(exchange, '/moved.json', status)
      })
      assert.equal((await connect(server)).card.name, 'Hostile')
    })
  }

  faultCase('in a loop is an error', async ({ open, connect, signal }) => {
    const server = await open((exchange) => to(exchange, exchange.path))
    await failsWith(connect(server, { limits: { maxRedirects: 5 } }), 'INVALID_AGENT_RESPONSE', 'CARD_NOT_FOUND')
    assert.equal(await discover(server.url, { signal, limits }), null)
    assert.ok(server.connections < 50)
  })

  faultCase('without end is an error after the allowed number of redirects [B-26]', async ({ open, connect }) => {
    let hops = 0
    const server = await open((exchange) => to(exchange, `/${++hops}.json`))
    await failsWith(connect(`${server.url}/card.json`, { limits: { maxRedirects: 4 } }), 'INVALID_AGENT_RESPONSE')
    assert.equal(hops, 5)
  })

  for (const location of ['file:///etc/passwd', 'ftp://127.0.0.1/card', 'data:application/json,{}', 'http://[', '']) {
    faultCase(`to "${location}" is not followed`, async ({ open, connect, signal }) => {
      const server = await open((exchange) => to(exchange, location))
      await failsWith(connect(`${server.url}/card.json`), 'INVALID_AGENT_RESPONSE')
      assert.equal(await discover(`${server.url}/card.json`, { signal, limits }), null)
    })
  }

  faultCase('without a location is not followed', async ({ open, connect }) => {
    const server = await open((exchange) => exchange.answer(302, {}, ''))
    await failsWith(connect(`${server.url}/card.json`), 'INVALID_AGENT_RESPONSE')
  })
})

describe('credentials', () => {
  const secrets = /secret|hidden/
  const showsNothing = ({ headers, path }: Exchange): void =>
    assert.doesNotMatch(JSON.stringify([headers, path]), secrets)

  const ways: Readonly<Record<string, ConnectOptions>> = {
    'a bearer token': { bearer: 'secret' },
    'a name and password': { basic: { username: 'me', password: 'secret' } },
    'headers of one’s own': { headers: { 'x-key': 'hidden', cookie: 'session=secret' } },
    'an authenticator': {
      authenticate: () => ({
        headers: { 'x-api-key': 'secret' },
        query: { key: 'hidden' },
        cookies: { sid: 'secret' },
      }),
    },
  }
  for (const [way, options] of Object.entries(ways)) {
    faultCase(`by ${way} are not sent with a card redirect to another origin`, async ({ open, connect }) => {
      const other = await open((exchange) => exchange.json(server.card))
      const server: FaultyServer = await open((exchange) => to(exchange, `${other.url}/card.json`))
      await endsTyped(connect(server, options))
      assert.ok(other.cards.length + other.calls.length > 0, 'no request arrived there')
      for (const exchange of [...other.cards, ...other.calls]) showsNothing(exchange)
    })

    for (const status of [302, 307, 308]) {
      faultCase(`by ${way} are not sent with a message that ${status} redirects to another origin`, async (stage) => {
        const { signal } = stage
        const other = await stage.open((exchange) => exchange.result({ task: taskAfter(events.length) }))
        const server = await stage.open((exchange) => {
          if (exchange.operation === 'card') return exchange.json(server.card)
          to(exchange, `${other.url}/rpc`, status)
        })
        const agent = await stage.connect(server, options)
        assert.match(JSON.stringify([server.cards[0]?.headers, server.cards[0]?.path]), /secret|hidden|Basic/)
        await endsTyped(agent.send('go', { signal }))
        await endsTyped(agent.get(taskId, { signal }))
        await endsTyped(agent.stream('go', { signal }).all())
        for (const exchange of other.calls) {
          showsNothing(exchange)
          assert.equal(exchange.headers['authorization'], undefined)
        }
      })
    }
  }

  faultCase('echoed by another origin are not sent again', async ({ open, connect, signal }) => {
    const other: FaultyServer = await open((exchange) => to(exchange, `${server.url}/back`, 307))
    const server = await open((exchange) => {
      if (exchange.operation === 'card') return exchange.json(server.card)
      if (exchange.path !== '/back') return to(exchange, `${other.url}/there`, 307)
      exchange.result(taskAfter(events.length))
    })
    const agent = await connect(server, { bearer: 'secret' })
    await endsTyped(agent.get(taskId, { signal }))
    for (const exchange of [...other.calls, ...server.calls.filter(({ path }) => path === '/back')]) {
      showsNothing(exchange)
    }
  })
})

describe('a message that redirects', () => {
  for (const status of [307, 308]) {
    faultCase(`with ${status} within the origin arrives complete`, async ({ open, connect, signal }) => {
      const server = await open((exchange) => {
        if (exchange.operation === 'card') return exchange.json(server.card)
        if (exchange.path === '/rpc') return to(exchange, '/new', status)
        exchange.result({ task: taskAfter(events.length) })
      })
      const ended = await endsTyped((await connect(server)).send('go', { signal }))
      if ('code' in ended) return
      assert.ok(ended.kind === 'task' && ended.status.state === 'TASK_STATE_COMPLETED')
      const moved = server.calls.find(({ path }) => path === '/new')
      assert.deepEqual([moved?.method, moved?.params.message.parts], ['POST', [{ text: 'go' }]])
    })
  }

  for (const status of [301, 302, 303]) {
    faultCase(`with ${status} does not become a GET request`, async ({ open, connect, signal }) => {
      const server = await open((exchange) => {
        if (exchange.operation === 'card') return exchange.json(server.card)
        if (exchange.path === '/rpc') return to(exchange, '/new', status)
        exchange.result({ task: taskAfter(events.length) })
      })
      await failsWith((await connect(server)).send('go', { signal }), 'INVALID_AGENT_RESPONSE')
      assert.ok(server.calls.every(({ method }) => method === 'POST'))
    })
  }

  faultCase('in a loop is an error', async ({ open, connect, signal }) => {
    const server = await open((exchange) => {
      if (exchange.operation === 'card') return exchange.json(server.card)
      to(exchange, '/rpc', 307)
    })
    const agent = await connect(server)
    const ended = [agent.send('go', { signal }), agent.get(taskId, { signal }), agent.stream('go', { signal }).all()]
    await Promise.all(ended.map((call) => failsWith(call, 'INVALID_AGENT_RESPONSE')))
    assert.ok(server.calls.length < 60, `${server.calls.length} calls`)
  })
})
