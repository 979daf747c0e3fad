/** The admin routes, and the routes by which callers create their own keys, over a real socket. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import {
  adminKey,
  bothIssuers,
  openAccessServer,
  type AuthHeaders,
  messageParams,
  bindingVersions,
} from './access-server.ts'

const agents = { team: { agent: () => 'team' }, hidden: { agent: () => 'hidden' } }
const accessServer = await openAccessServer({ agents, access: { jwt: bothIssuers } })
const { admin, key, peer } = accessServer
const way = bindingVersions[0]!

describe('the admin API', () => {
  it('requires the admin key, and reveals nothing to others, not even which routes exist [T-12]', async () => {
    const apiKey = await key({ agents: ['team'] })
    const paths = [
      '/admin',
      '/admin/',
      '/admin/keys',
      '/admin/keys/x',
      '/admin/agents',
      '/admin/audit',
      '/admin/nothing',
    ]
    const wrong: readonly AuthHeaders[] = [
      {},
      apiKey,
      { authorization: `Basic ${btoa(`a:${adminKey}`)}` },
      { 'x-api-key': adminKey },
    ]
    for (const proof of wrong) {
      for (const path of paths) {
        for (const method of ['GET', 'POST', 'DELETE', 'PATCH']) {
          const { status, headers, json } = await admin(method, path, undefined, proof)
          // Guesses are rate limited after a while.
          assert.ok(status === 401 || (status === 429 && proof === apiKey), `${method} ${path}: ${status}`)
          assert.match(json.error.code, /UNAUTHENTICATED|RATE_LIMITED/)
          if (status === 401) assert.equal(headers.get('www-authenticate'), 'Bearer realm="parley"')
        }
      }
    }
  })

  it('rate limits wrong keys, and not the right one', async () => {
    const guess = () => admin('GET', '/admin/keys', undefined, { authorization: 'Bearer not the admin key' })
    let last = await guess()
    for (let count = 0; count < 25; count++) last = await guess()
    assert.equal(last.status, 429)
    assert.ok(Number(last.headers.get('retry-after')) > 0)
    assert.equal((await admin('GET', '/admin/keys')).status, 200)
  })

  it('answers unknown paths with 404 and other verbs with 405, as uncacheable JSON', async () => {
    for (const path of ['/admin', '/admin/nothing', '/admin/keys/none']) {
      const { status, headers, json } = await admin('GET', path)
      assert.deepEqual([status, json.error.code], [404, 'NOT_FOUND'])
      assert.deepEqual([headers.get('content-type'), headers.get('cache-control')], ['application/json', 'no-store'])
    }
    const { status, headers } = await admin('PUT', '/admin/keys', {})
    assert.deepEqual([status, headers.get('allow')], [405, 'GET, POST'])
  })
})

describe('keys that the admin creates', () => {
  it('are shown once, and later by name, prefix and last use', async () => {
    const order = {
      name: 'CI',
      agents: ['team'],
      scopes: ['operation:send'],
      rate: '60/min',
      tasksPerDay: 5,
      expiresIn: '30d',
    }
    const { status, json } = await admin('POST', '/admin/keys', order)
    assert.equal(status, 201)
    assert.match(json.key, /^pk_/)
    const { key: secret, ...info } = json
    assert.deepEqual(
      [info.name, info.scopes, info.rate, info.tasksPerDay, info.state, info.createdBy, info.prefix],
      ['CI', ['agent:team', 'operation:send'], '60/min', 5, 'active', 'admin', secret.slice(0, 15)],
    )
    assert.ok(Date.parse(info.expiresAt) > Date.now() + 29 * 86_400_000)
    await peer('team', way).call('SendMessage', messageParams('hi'), {
      headers: { authorization: `Bearer ${secret}` },
    })
    const { json: shown } = await admin('GET', `/admin/keys/${info.id}`)
    const { lastUsedAt, ...rest } = shown
    assert.deepEqual(rest, info)
    assert.ok(Date.parse(lastUsedAt) > Date.now() - 60_000)
    const { json: listed } = await admin('GET', '/admin/keys?limit=1000')
    assert.ok(listed.keys.some(({ id }: { id: string }) => id === info.id))
    assert.ok(!JSON.stringify([shown, listed]).includes(secret.slice(16)))
  })

  it('are rejected with every violation and its path', async () => {
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{}, /scopes: is required/],
      [{ agents: ['team'] }, /name: must not be empty/],
      [{ name: 'x', scopes: ['agent:'] }, /scopes\.0: must be agent:<name>/],
      [{ name: 'x', agents: ['team', 'nope'] }, /agents: unknown agent nope: use one of .*team/],
      [{ name: 'x', agents: ['agent:team'] }, /agents\.0: must be the name of one agent, without agent:/],
      [{ name: '', agents: ['team'], rate: 'often', tasksPerDay: -1 }, /name: .*rate: .*tasksPerDay: /],
      [{ name: 'x', agents: ['team'], principal: 'anonymous' }, /principal: is taken/],
      // Its tasks would be erased with those of bob.
      [{ name: 'x', agents: ['team'], principal: 'agent:team|bob' }, /principal: is taken/],
      [{ name: 'x', agents: ['team'], expiresAt: '2001-01-01T00:00:00Z' }, /expiresAt: is in the past/],
      [{ name: 'x', agents: ['team'], expiresAt: 'tomorrow' }, /expiresAt: must be a time/],
      [{ name: 'x', agents: ['team'], admin: true }, /admin/],
      [{ replaces: 'missing' }, /replaces: is not the id of a key/],
      [[], /body/],
    ]
    for (const [order, message] of wrong) {
      const { status, json } = await admin('POST', '/admin/keys', order)
      assert.deepEqual([status, json.error.code], [400, 'INVALID_PARAMS'], JSON.stringify(order))
      assert.match(json.error.message, message)
      assert.ok(json.error.violations.length > 0)
    }
    const headers = { authorization: `Bearer ${adminKey}` }
    const post = (body: string, more: object = {}) =>
      fetch(`${accessServer.server.url}/admin/keys`, { method: 'POST', headers: { ...headers, ...more }, body })
    assert.equal((await post('{}', { 'content-type': 'text/plain' })).status, 415)
    assert.equal((await post('{', { 'content-type': 'application/json' })).status, 400)
    assert.equal((await post(`"${'x'.repeat(70_000)}"`, { 'content-type': 'application/json' })).status, 413)
    assert.equal((await admin('GET', '/admin/keys?limit=0')).status, 400)
  })
})

describe('keys that callers create', () => {
  const generate = (agent: string, proof: AuthHeaders, body?: unknown) =>
    admin('POST', `/a2a/${agent}/api-key/generate`, body, proof)
  const as = async (claims: object): Promise<AuthHeaders> => ({
    authorization: `Bearer ${await accessServer.one.token(claims as Record<string, unknown>)}`,
  })

  it('are limited to one agent, belong to themselves, and are shown once [S4-4]', async () => {
    const proof = await as({ sub: 'bea', groups: ['all'] })
    const { status, json } = await generate('team', proof, { name: 'laptop' })
    assert.equal(status, 201)
    assert.deepEqual(
      [json.agent, json.name, json.principal, json.scopes],
      ['team', 'laptop', `key:${json.id}`, ['agent:team', 'all']],
    )
    assert.deepEqual([json.createdBy, json.apiKey, json.warning], ['https://one.test|bea', json.key, undefined])
    const headers = { authorization: `Bearer ${json.key}` }
    const team = peer('team', way)
    const sent = await team.call('SendMessage', messageParams('hi'), { headers: proof })
    // The key is another owner than the token.
    const hidden: any = (await team.call('GetTask', { id: sent.payload.task.id }, { headers })).body
    assert.equal(hidden.error.code, -32001)
    assert.deepEqual((await team.call('ListTasks', {}, { headers })).payload.tasks, [])
    assert.equal((await peer('hidden', way).call('SendMessage', messageParams('hi'), { headers })).status, 403)
  })

  it('act as their creator only if it asks for that, and then come with a warning', async () => {
    const proof = await as({ sub: 'bert', groups: ['team'] })
    const { status, json } = await generate('team', proof, { actsAsMe: true })
    assert.deepEqual([status, json.principal], [201, 'https://one.test|bert'])
    assert.match(json.warning, /acts as you/)
    const headers = { authorization: `Bearer ${json.key}` }
    const sent = await peer('team', way).call('SendMessage', messageParams('hi'), { headers: proof })
    assert.equal((await peer('team', way).call('GetTask', { id: sent.payload.task.id }, { headers })).status, 200)
    const { json: listed } = await admin('GET', '/a2a/team/api-key', undefined, proof)
    assert.deepEqual(
      listed.keys.map(({ id }: { id: string }) => id),
      [json.id],
    )
  })

  it('can be created with tokens and by the admin, but not with keys or anonymously [S4-4]', async () => {
    assert.equal((await generate('team', { authorization: `Bearer ${adminKey}` })).status, 201)
    const byKey = await generate('team', await key({ agents: ['team'] }))
    assert.deepEqual([byKey.status, byKey.json.error.code], [403, 'PERMISSION_DENIED'])
    assert.equal((await generate('team', {})).status, 401)
    assert.equal((await generate('team', { authorization: 'Bearer nonsense' })).status, 401)
  })

  it('cannot be created for agents that the caller may not use, which look like unknown ones [B-153]', async () => {
    const proof = await as({ groups: ['team'] })
    const probe = async (agent: string) => {
      const { status, json } = await generate(agent, proof)
      return [status, JSON.stringify(json).replaceAll(agent, '…')]
    }
    const seen = await probe('hidden')
    assert.equal(seen[0], 403)
    assert.deepEqual(await probe('nowhere'), seen)
    assert.equal((await generate('nowhere', await as({ groups: ['all'] }))).status, 404)
    assert.equal((await generate('nowhere', { authorization: `Bearer ${adminKey}` })).status, 404)
  })

  it('permit no more than the caller may do [B-154]', async () => {
    const proof = await as({ sub: 'cam', groups: ['team'] })
    assert.equal((await generate('team', proof, { scopes: ['agent:*'] })).status, 403)
    assert.equal((await generate('team', proof, { scopes: ['agent:team', 'agent:hidden'] })).status, 403)
    assert.equal((await generate('team', proof, { scopes: ['agent:team', 'payroll'] })).status, 403)
    assert.equal((await generate('team', proof, { scopes: ['agent:team', 'admin'] })).status, 400)
    assert.equal((await generate('team', proof, { scopes: ['team'] })).status, 400)
    assert.equal((await generate('team', proof, { principal: 'another' })).status, 400)
    const { status, json } = await generate('team', proof, { scopes: ['skill:team/sum', 'operation:read'] })
    assert.deepEqual([status, json.scopes], [201, ['skill:team/sum', 'operation:read']])
  })

  it('are listed and revoked only by their creator', async () => {
    const [dan, eve] = [await as({ sub: 'dan', groups: ['team'] }), await as({ sub: 'eve', groups: ['team'] })]
    const { json: made } = await generate('team', dan)
    const list = async (proof: AuthHeaders): Promise<string[]> =>
      (await admin('GET', '/a2a/team/api-key', undefined, proof)).json.keys.map(({ id }: { id: string }) => id)
    assert.deepEqual([await list(dan), await list(eve)], [[made.id], []])
    const path = `/a2a/team/api-key/${made.id}`
    assert.equal((await admin('DELETE', path, undefined, eve)).status, 404)
    const headers = { authorization: `Bearer ${made.key}` }
    assert.equal((await peer('team', way).call('SendMessage', messageParams('hi'), { headers })).status, 200)
    assert.equal((await admin('DELETE', path, undefined, dan)).status, 200)
    assert.equal((await peer('team', way).call('SendMessage', messageParams('hi'), { headers })).status, 401)
    assert.deepEqual(await list(dan), [])
  })

  it('stay keys of their creator when an admin rotates them', async () => {
    const proof = await as({ sub: 'gil', groups: ['team'] })
    const { json: made } = await generate('team', proof)
    const { json: next } = await admin('POST', '/admin/keys', { replaces: made.id })
    assert.deepEqual([next.principal, next.createdBy], [made.principal, 'https://one.test|gil'])
    assert.equal((await admin('DELETE', `/a2a/team/api-key/${next.id}`, undefined, proof)).status, 200)
  })

  it('have a maximum number per caller', async () => {
    const proof = await as({ sub: 'fay', groups: ['team'] })
    // An admin's key for that principal is not one of its own.
    await admin('POST', '/admin/keys', { name: 'x', agents: ['team'], principal: 'https://one.test|fay' })
    for (let count = 0; count < 20; count++)
      assert.equal((await generate('team', proof, { actsAsMe: count % 2 === 0 })).status, 201)
    assert.equal((await generate('team', proof)).status, 429)
  })

  it('have that number if they are created at once', async () => {
    // A write of this store takes time, as that of a database does.
    const slow = await openAccessServer({ agents, access: { jwt: bothIssuers }, store: sqliteStore(':memory:') })
    const proof = { authorization: `Bearer ${await slow.one.token({ sub: 'ida', groups: ['team'] })}` }
    const many = Array.from({ length: 40 }, () => slow.admin('POST', '/a2a/team/api-key/generate', {}, proof))
    const created = (await Promise.all(many)).filter(({ status }) => status === 201)
    assert.equal(created.length, 20)
  })
})

describe('the audit', () => {
  it('has every request with caller and outcome, and task states, newest first [B-170 T-12]', async () => {
    const { json: made } = await admin('POST', '/admin/keys', { name: 'audited', agents: ['team'] })
    const headers = { authorization: `Bearer ${made.key}` }
    const sent = await peer('team', way).call('SendMessage', messageParams('hi'), { headers })
    const task = sent.payload.task.id
    for (const other of bindingVersions) await peer('team', other).call('GetTask', { id: task }, { headers })
    await peer('hidden', way).call('SendMessage', messageParams('hi'), { headers })
    await peer('team', way).call('SendMessage', messageParams('hi'))
    await admin('DELETE', `/admin/keys/${made.id}`)
    const { status, json } = await admin('GET', '/admin/audit?limit=60')
    assert.equal(status, 200)
    const brief = json.entries
      .filter((entry: any) => entry.event !== 'task.state')
      .slice(0, 11)
      .map(({ event, who, key: id, operation, binding, outcome }: any) =>
        [event, who ?? '-', id === made.id ? 'key' : '-', operation, binding ?? '-', outcome].join(' '),
      )
    const me = made.principal
    assert.deepEqual(brief, [
      'key.revoked admin key DELETE /admin/keys/{id} - OK',
      // Nothing of a request is read before it is authenticated.
      'call - -  JSONRPC UNAUTHENTICATED',
      `call ${me} key SendMessage JSONRPC PERMISSION_DENIED`,
      ...[...bindingVersions].reverse().map(({ binding }) => `call ${me} key GetTask ${binding} OK`),
      `call ${me} key SendMessage JSONRPC OK`,
      'key.created admin key POST /admin/keys - OK',
    ])
    const of = async (query: string): Promise<any[]> => (await admin('GET', `/admin/audit?${query}`)).json.entries
    const states = (await of(`task=${task}&event=task.state`)).map(({ state }) => state)
    assert.deepEqual(states.at(0), 'TASK_STATE_COMPLETED')
    const [call] = await of(`task=${task}&operation=SendMessage`)
    assert.deepEqual([call.who, call.agent, call.status, call.version], [me, 'team', 200, '1.0'])
    assert.match(call.from, /127\.0\.0\.1/)
    assert.ok(call.durationMs >= 0 && Date.parse(call.at) > Date.now() - 60_000)
    assert.equal(
      (await of(`who=${encodeURIComponent(me)}&limit=1000`)).every(({ who }) => who === me),
      true,
    )
    assert.equal((await admin('GET', '/admin/audit?color=red')).status, 400)
  })

  it('is filtered by time, by text, and to changes', async () => {
    const of = async (query: string): Promise<any[]> => (await admin('GET', `/admin/audit?${query}`)).json.entries
    await admin('GET', '/admin/keys')
    const { json: made } = await admin('POST', '/admin/keys', { name: 'narrowed', agents: ['team'] })
    const [first] = await of(`key=${made.id}`)
    assert.deepEqual(await of(`text=${made.id.toUpperCase()}&limit=1`), [first])
    assert.ok((await of('operation=GET%20/admin/keys&outcome=OK')).length > 0)
    const done = await of('reads=no&limit=1000')
    assert.deepEqual(done[0], first)
    // A rejected caller counts as more than a read.
    const isLook = ({ event, operation, outcome }: any): boolean =>
      event === 'admin' && outcome === 'OK' && operation.startsWith('GET ')
    assert.ok(!done.some(isLook))
    assert.deepEqual((await of(`since=${first.at}&reads=no`)).at(-1), first)
    assert.ok((await of(`until=${first.at}&limit=1000`)).every(({ at }) => at < first.at))
    assert.equal((await admin('GET', '/admin/audit?since=yesterday')).status, 400)
  })

  it('continues where a page ended', async () => {
    const { json: whole } = await admin('GET', '/admin/audit?limit=12&event=call')
    const pages: unknown[] = []
    for (let query = 'limit=5&event=call'; pages.length < 12;) {
      const { json } = await admin('GET', `/admin/audit?${query}`)
      pages.push(...json.entries)
      query = `limit=5&event=call&before=${json.before}`
    }
    assert.deepEqual(pages.slice(0, 12), whole.entries)
    assert.equal((await admin('GET', '/admin/audit?before=nonsense')).status, 400)
  })
})
