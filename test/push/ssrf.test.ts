/**
 * Webhooks that target internal addresses: every special range in every notation, names that resolve to them, names
 * that resolve differently the second time, redirects. A local listener counts connections: none (B-129).
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { connect, type RemoteAgent } from '@parley/a2a/client'
import { serve, type Server } from '@parley/a2a/node'
import type { ServePushOptions } from '@parley/a2a/internal'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** `{port}` is the listener's. */
const addresses: Readonly<Record<string, readonly string[]>> = {
  'this machine': [
    '127.0.0.1:{port}',
    '127.1:{port}',
    '127.255.255.254:{port}',
    'localhost:{port}',
    'a.localhost:{port}',
  ],
  'this machine with a dot behind': ['localhost.:{port}', '127.0.0.1.:{port}'],
  'numbers in other notations': [
    '2130706433:{port}',
    '017700000001:{port}',
    '0x7f000001:{port}',
    '0x7f.0.0.1:{port}',
    '0177.0.0.1:{port}',
    '127.0x0.0.1:{port}',
    '127.0.01:{port}',
    '%31%32%37.0.0.1:{port}',
    '１２７.0.0.1:{port}',
  ],
  'no address at all': ['0.0.0.0:{port}', '0:{port}', '0.1.2.3'],
  'private IPv4': ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '100.127.255.255'],
  'link-local IPv4 and its metadata': ['169.254.169.254', '169.254.0.1', '0xa9fea9fe', '2852039166'],
  'reserved IPv4': [
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    '255.255.255.255',
  ],
  'multicast IPv4': ['224.0.0.1', '239.255.255.255'],
  'IPv6 of this machine': ['[::1]:{port}', '[::]:{port}', '[0:0:0:0:0:0:0:1]:{port}'],
  'private and link-local IPv6': ['[fc00::1]', '[fd12:3456::1]', '[fe80::1]', '[fec0::1]'],
  'IPv4 in IPv6': [
    '[::ffff:127.0.0.1]:{port}',
    '[::ffff:7f00:1]:{port}',
    '[::127.0.0.1]:{port}',
    '[64:ff9b::7f00:1]:{port}',
    '[2002:7f00:1::]:{port}',
    '[::ffff:10.0.0.1]',
    '[::ffff:169.254.169.254]',
  ],
  'other special IPv6': ['[ff02::1]', '[2001:db8::1]', '[100::1]', '[2001::1]'],
}

/** Names for the test resolver: the result of each lookup, the last one repeated. */
const names: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'inside.example.com': [['127.0.0.1']],
  'mapped.example.com': [['::ffff:127.0.0.1']],
  'six.example.com': [['::1']],
  'metadata.example.com': [['169.254.169.254']],
  // Public at the first lookup, in an unassigned range, and loopback at the next.
  'rebinding.example.com': [['2d00::1'], ['127.0.0.1']],
  'both.example.com': [['127.0.0.1', '10.0.0.1']],
}

function createLookup(): LookupFunction {
  const looks = new Map<string, number>()
  return (host, _options, callback) => {
    const answers = names[host]
    if (answers === undefined) return callback(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), [])
    const look = looks.get(host) ?? 0
    looks.set(host, look + 1)
    const found = answers[Math.min(look, answers.length - 1)] ?? []
    callback(
      null,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
}

describe('webhooks that target internal addresses', () => {
  let visits = 0
  const listener = createServer((_, response) => {
    visits += 1
    response.end()
  })
  let port = 0
  const opened: Server[] = []

  before(async () => {
    listener.listen(0)
    await once(listener, 'listening')
    ;({ port } = listener.address() as AddressInfo)
  })
  after(async () => {
    await Promise.all(opened.map((server) => server.close()))
    listener.close()
  })

  async function open(
    push: true | ServePushOptions,
  ): Promise<{ readonly server: Server; readonly agent: RemoteAgent }> {
    const server = await serve({ port: 0, store: memoryStore(), agent: () => 'done', push, log: silent, drainMs: 0 })
    opened.push(server)
    return { server, agent: await connect(server.url) }
  }

  async function taskOf(agent: RemoteAgent): Promise<string> {
    const answer = await agent.send('hi')
    assert.ok(answer.kind === 'task')
    return answer.id
  }

  for (const [range, hosts] of Object.entries(addresses)) {
    it(`are refused at registration: ${range} [B-129]`, async () => {
      const { agent } = await open(true)
      const taskId = await taskOf(agent)
      for (const host of hosts) {
        for (const scheme of ['https', 'http']) {
          const url = `${scheme}://${host.replace('{port}', String(port))}/hook`
          await assert.rejects(agent.push.set(taskId, { url }), { code: 'INVALID_PARAMS' }, url)
          await assert.rejects(agent.send('hi', { push: { url } }), { code: 'INVALID_PARAMS' }, url)
        }
      }
      assert.deepEqual((await agent.push.list(taskId)).configs, [])
      assert.equal(visits, 0)
    })
  }

  it('are refused without TLS, whatever the address [B-129 B-131]', async () => {
    const { agent } = await open(true)
    const url = 'http://hooks.example.com/'
    await assert.rejects(agent.push.set(await taskOf(agent), { url }), { code: 'INVALID_PARAMS' })
  })

  for (const host of Object.keys(names)) {
    it(`are not called if the name resolves to one when connecting: ${host} [B-129]`, async () => {
      const { agent, server } = await open({ lookup: createLookup(), scheduleMs: [10, 10, 10], timeoutMs: 300 })
      const answer = await agent.send('hi', { push: { id: 'hook', url: `https://${host}:${port}/hook` } })
      assert.ok(answer.kind === 'task')
      const state = async () => (await server.handler.push?.cursors(answer.id))?.[0]?.state
      await eventually(async () => (await state()) === 'dead')
      const [last] = (await server.handler.push?.attempts(answer.id, 'hook', 1)) ?? []
      assert.equal(last?.outcome, 'the address is not public, and push.allow does not list it')
      assert.equal(last?.attempt, names[host]?.length)
      assert.equal(visits, 0)
    })
  }

  it('are not reached by a redirect of an allowed webhook [B-129]', async () => {
    let asked = 0
    const pointing = createServer((_, response) => {
      asked += 1
      response.writeHead([301, 302, 303, 307, 308][asked % 5] ?? 302, { location: `http://127.0.0.1:${port}/` }).end()
    }).listen(0, '127.0.0.1')
    await once(pointing, 'listening')
    const { agent, server } = await open({ allow: ['127.0.0.1'], scheduleMs: [5, 5, 5, 5, 5] })
    const url = `http://127.0.0.1:${(pointing.address() as AddressInfo).port}/`
    const answer = await agent.send('hi', { push: { url } })
    assert.ok(answer.kind === 'task')
    await eventually(async () => (await server.handler.push?.cursors(answer.id))?.[0]?.state === 'dead')
    assert.equal(asked, 6)
    assert.equal(visits, 0)
    pointing.close()
  })

  it('are called if the operator allows it, also without TLS [B-129]', async () => {
    const { agent, server } = await open({ allow: ['localhost', '127.0.0.0/8'] })
    for (const host of ['localhost', '127.0.0.1', '127.0.0.2']) {
      const before = visits
      const answer = await agent.send('hi', { push: { url: `http://${host}:${port}/hook` } })
      assert.ok(answer.kind === 'task')
      await eventually(async () => (await server.handler.push?.cursors(answer.id))?.[0]?.state === 'done')
      assert.ok(visits > before, host)
    }
    visits = 0
  })

  it('can be restricted to a list of hosts [B-129]', async () => {
    const { agent } = await open({ only: ['hooks.example.com', '*.hooks.example.net'] })
    const taskId = await taskOf(agent)
    for (const host of ['hooks.example.com', 'a.hooks.example.net']) {
      await agent.push.set(taskId, { url: `https://${host}/` })
    }
    for (const host of ['example.com', 'xhooks.example.com', '93.184.216.34']) {
      await assert.rejects(agent.push.set(taskId, { url: `https://${host}/` }), { code: 'INVALID_PARAMS' }, host)
    }
  })
})
