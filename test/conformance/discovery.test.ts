/** Where cards are served, what they declare, and how extensions are negotiated. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { clientTools, createHandler, credentials, cursor, timestamps, trace } from '@parley/a2a/server'
import { closeInMemoryServers, openInMemoryServer, newMessage, newLegacyMessage, v0_3, v1 } from './in-memory-server.ts'

after(closeInMemoryServers)

const uri = 'https://example.com/extensions/mood/v1'

describe('a card', () => {
  it('advertises the configured public URL, for every request [B-25]', async () => {
    const server = openInMemoryServer({ publicUrl: 'https://agents.example.com/greeter' })
    for (const headers of [v1, v0_3, {}]) {
      const { body } = await server.fetch('/.well-known/agent-card.json', { headers })
      const urls = [
        ...(body.supportedInterfaces ?? []),
        ...(body.additionalInterfaces ?? []),
        ...(body.url === undefined ? [] : [body]),
      ].map((entry: { url: string }) => entry.url)
      assert.ok(urls.length > 0)
      for (const url of urls) assert.match(url, /^https:\/\/agents\.example\.com\/greeter/)
    }
  })

  it('is also served at older paths, below the path of each agent [S4-2 S4-3]', async () => {
    const handler = createHandler({ store: memoryStore(), agents: { anna: () => 'A', berta: () => 'B' } })
    for (const path of ['agent-card', '.well-known/agent', '.well-known/agent-card.json', '.well-known/agent.json']) {
      const response = await handler.fetch(new Request(`http://localhost/a2a/berta/${path}`))
      assert.equal(response.status, 200, path)
      assert.equal(((await response.json()) as { name: string }).name, 'berta', path)
    }
    await handler.close()
  })

  it('that is extended is cacheable only by its reader [B-140]', async () => {
    const server = openInMemoryServer({
      extendedCard: { description: 'for friends' },
      authenticate: (credentials) => (credentials.header('authorization') === 'Bearer me' ? { id: 'me' } : undefined),
    })
    const answer = await server.fetch('/extendedAgentCard', { headers: { ...v1, authorization: 'Bearer me' } })
    assert.equal(answer.body.description, 'for friends')
    assert.match(answer.headers.get('cache-control') ?? '', /private|no-store/)
  })

  it('requires none of the extensions that only add data [B-148]', async () => {
    const ours = [clientTools(), credentials(), cursor(), timestamps(), trace()]
    const { body } = await openInMemoryServer({ extensions: ours }).fetch('/.well-known/agent-card.json', {
      headers: v1,
    })
    assert.equal(body.capabilities.extensions.length, ours.length)
    for (const extension of body.capabilities.extensions) assert.notEqual(extension.required, true, extension.uri)
  })
})

describe('an extension', () => {
  it('is requested and confirmed by header; unknown ones are ignored [T-9 B-143]', async () => {
    const server = openInMemoryServer({ extensions: [{ uri }] })
    const headers = { ...v1, 'a2a-extensions': `${uri}, https://example.com/unheard-of` }
    const answer = await server.rpc('SendMessage', { message: newMessage('hi') }, headers)
    assert.equal(answer.body.result.task.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(answer.headers.get('a2a-extensions'), uri)
    const unasked = await server.rpc('SendMessage', { message: newMessage('hi') }, v1)
    assert.equal(unasked.headers.get('a2a-extensions'), null)
  })

  it('that is required and not requested gives an error that names it [T-9 B-144]', async () => {
    const server = openInMemoryServer({ extensions: [{ uri, required: true }] })
    const modern = await server.rpc('SendMessage', { message: newMessage('hi') }, v1)
    assert.equal(modern.body.error.code, -32_008)
    const old = await server.rpc('message/send', { message: newLegacyMessage('hi') }, v0_3)
    assert.equal(old.body.error.code, -32_600)
    for (const answer of [modern, old]) assert.ok(JSON.stringify(answer.body.error.data).includes(uri))
  })
})

describe('JSON-RPC', () => {
  it('may be posted to /api/a2a [S2-1]', async () => {
    const answer = await openInMemoryServer().rpc('message/send', { message: newLegacyMessage('hi') }, {}, '/api/a2a')
    assert.equal(answer.body.result.status.state, 'completed')
  })

  it('has the four basic methods for every agent, and -32601 for unknown ones [S4-5 B-37]', async () => {
    const server = openInMemoryServer()
    const { id } = (await server.rpc('message/send', { message: newLegacyMessage('hi') })).body.result
    assert.equal((await server.rpc('tasks/get', { id })).body.result.id, id)
    assert.equal((await server.rpc('tasks/cancel', { id })).body.error.code, -32_002)
    assert.equal((await server.stream('message/stream', { message: newLegacyMessage('hi') })).at(-1).final, true)
    const unknown = await server.rpc('tasks/sendSubscribe', { id })
    assert.deepEqual([unknown.status, unknown.body.error.code], [200, -32_601])
  })
})
