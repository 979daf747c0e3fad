import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogExtension } from '../../discovery/discovery-routes.ts'
import { parseHubCatalog, fetchHubCatalog } from './hub-catalog.ts'

const hub = 'http://127.0.0.1:3000'
const card = 'application/a2a-agent-card+json'
const read = (...entries: unknown[]) => parseHubCatalog(JSON.stringify({ specVersion: '1.0', entries }), hub)

describe('the catalog of a hub', () => {
  it('lists its agents under the configured address', () => {
    const own = { name: 'gpt', url: `${hub}/a2a/gpt`, isOwn: true }
    for (const url of ['https://hub.example.com/a2a/gpt/.well-known/agent-card.json', '/a2a/gpt', `${hub}/a2a/gpt/x`]) {
      assert.deepEqual(read({ identifier: 'x', type: card, url }), [own])
    }
    assert.deepEqual(read({ identifier: 'x', mediaType: card, url: '/a2a/gpt' }), [own])
  })

  it('says which skills the caller may use', () => {
    const extensions = { [catalogExtension]: { agent: 'gpt', skills: ['sing'] } }
    const [found] = read({ identifier: 'x', type: card, url: '/a2a/gpt', extensions })
    assert.deepEqual(found?.skills, ['sing'])
    for (const odd of [7, {}, { [catalogExtension]: 7 }, { [catalogExtension]: { skills: [7] } }]) {
      const [one] = read({ identifier: 'x', type: card, url: '/a2a/gpt', extensions: odd })
      assert.deepEqual([one?.name, one?.skills], ['gpt', undefined])
    }
  })

  it('lists agents elsewhere as such', () => {
    const far = { identifier: 'urn:air:example.com:agent:far', type: card, url: 'https://far.example.com/card.json' }
    assert.deepEqual(read(far), [{ name: 'far', url: far.url, isOwn: false }])
    assert.deepEqual(read({ ...far, identifier: undefined, displayName: 'Far' }), [
      { name: 'Far', url: far.url, isOwn: false },
    ])
  })

  it('skips entries that are not agents or not readable', () => {
    const zip = { identifier: 'x', type: 'application/agent-skills+zip', url: '/x' }
    const odd = [null, 7, 'x', {}, zip, { type: card }, { type: card, url: 'http://[' }, { type: card, url: 'x:y' }]
    assert.deepEqual(read(...odd), [])
    for (const text of ['', '{', 'null', '[]', '{"entries":{}}'])
      assert.throws(() => parseHubCatalog(text, hub), /no readable catalog/)
  })

  it('is asked for with the key, and bounded', async () => {
    const { signal } = new AbortController()
    let seen: Request | undefined
    const answer = (response: Response) => (request: Request) => {
      seen = request
      return Promise.resolve(response)
    }
    await fetchHubCatalog(hub, 'k', answer(Response.json({ entries: [] })), signal)
    assert.equal(seen?.headers.get('authorization'), 'Bearer k')
    assert.equal(seen?.redirect, 'error')
    const large = new Response('x'.repeat(5_000_001))
    await assert.rejects(fetchHubCatalog(hub, undefined, answer(large), signal), /too large/)
    const refused = new Response(null, { status: 401 })
    await assert.rejects(fetchHubCatalog(hub, 'k', answer(refused), signal), { code: 'UNAUTHENTICATED' })
    const root = await fetchHubCatalog(hub, 'k', answer(new Response(null, { status: 404 })), signal)
    assert.deepEqual(root, [{ name: 'default', url: hub, isOwn: true }])
  })
})
