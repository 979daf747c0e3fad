/** Which credentials are accepted, and what responses reveal: over real sockets, in every version and binding. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  adminKey,
  bothIssuers,
  openAccessServer,
  type AuthHeaders,
  messageParams,
  bindingVersions,
} from './access-server.ts'

const skills = [
  { id: 'sum', name: 'Sum', description: 'Adds', tags: ['x'] },
  { id: 'tell', name: 'Tell', description: 'Tells', tags: ['x'] },
]
const agents = {
  open: { agent: ({ caller }: { caller: { id: string } }) => `open to ${caller.id}` },
  team: { agent: ({ caller }: { caller: { id: string } }) => `for ${caller.id}`, skills },
  hidden: { agent: () => 'hidden', protectCard: true },
}

const accessServer = await openAccessServer({
  agents,
  access: { anonymous: ['open'], jwt: bothIssuers },
  limits: { perKey: '100000/min', perAddress: '100000/min' },
})
const { peer, key, admin, get } = accessServer

/** 16 and 7 are the gRPC codes for 401 and 403. */
const codes = { UNAUTHENTICATED: [401, 16], PERMISSION_DENIED: [403, 7] }

describe('a key', () => {
  it('authenticates its caller by Authorization and by X-API-Key, in every version and binding [S4-15 S2-28 B-168]', async () => {
    const { authorization } = await key({ agents: ['team'] })
    const proofs: readonly AuthHeaders[] = [{ authorization }, { 'x-api-key': authorization.slice('Bearer '.length) }]
    for (const way of bindingVersions) {
      for (const proof of proofs) {
        const { status, body } = await peer('team', way).call('SendMessage', messageParams('hi'), { headers: proof })
        assert.equal(status, 200)
        assert.match(JSON.stringify(body), /for key:/)
      }
    }
  })

  it('grants access to its agents, and reveals nothing of others [B-153 B-154 T-12]', async () => {
    const proof = await key({ agents: ['team'] })
    for (const way of bindingVersions) {
      for (const agent of ['hidden', 'nowhere']) {
        const { status, headers, body } = await peer(agent, way).call('SendMessage', messageParams('hi'), {
          headers: proof,
        })
        assert.ok(codes.PERMISSION_DENIED.includes(status), `${status}`)
        const scope = `agent:${agent}`
        assert.equal(headers.get('www-authenticate'), `Bearer error="insufficient_scope", scope="${scope}"`)
        assert.ok(JSON.stringify(body).includes(`Requires the scope ${scope}`))
      }
      assert.equal((await peer('open', way).call('SendMessage', messageParams('hi'), { headers: proof })).status, 200)
    }
  })

  it('may be limited to some skills, and then each message must name one [B-154 S2-29 T-13]', async () => {
    const headers = await key({ scopes: ['skill:team/sum'] })
    const status = async (metadata?: object): Promise<number> => {
      const request = { ...messageParams('hi'), ...(metadata === undefined ? {} : { metadata }) } as ReturnType<
        typeof messageParams
      >
      return (await peer('team', { binding: 'HTTP+JSON', version: '1.0' }).call('SendMessage', request, { headers }))
        .status
    }
    assert.deepEqual([await status({ skillId: 'sum' }), await status({ skillId: 'tell' })], [200, 403])
    assert.notEqual(await status(), 200)
  })

  it('may be limited to some operations [B-154]', async () => {
    const headers = await key({ scopes: ['agent:team', 'operation:read'] })
    for (const way of bindingVersions) {
      const team = peer('team', way)
      assert.ok(
        codes.PERMISSION_DENIED.includes((await team.call('SendMessage', messageParams('hi'), { headers })).status),
      )
      assert.ok(!codes.PERMISSION_DENIED.includes((await team.call('GetTask', { id: 'none' }, { headers })).status))
    }
  })

  it('is invalid from the moment it is revoked, over every binding', async () => {
    const { json } = await admin('POST', '/admin/keys', { name: 'short', agents: ['team'] })
    const headers = { authorization: `Bearer ${json.key}` }
    for (const way of bindingVersions) {
      assert.equal((await peer('team', way).call('SendMessage', messageParams('hi'), { headers })).status, 200)
    }
    assert.equal((await admin('DELETE', `/admin/keys/${json.id}`)).status, 200)
    for (const way of bindingVersions) {
      const { status, headers: answered } = await peer('team', way).call('SendMessage', messageParams('hi'), {
        headers,
      })
      assert.ok(codes.UNAUTHENTICATED.includes(status))
      assert.match(answered.get('www-authenticate') ?? '', /invalid_token/)
    }
  })

  it('that replaces another continues its tasks [B-160]', async () => {
    const { json: old } = await admin('POST', '/admin/keys', {
      name: 'old',
      agents: ['team'],
      rate: '1000/min',
      expiresIn: '30d',
    })
    const team = peer('team', { binding: 'JSONRPC', version: '1.0' })
    const sent = await team.call('SendMessage', messageParams('hi'), {
      headers: { authorization: `Bearer ${old.key}` },
    })
    const { json: fresh } = await admin('POST', '/admin/keys', { replaces: old.id })
    assert.deepEqual(
      [fresh.principal, fresh.name, fresh.scopes, fresh.rate, fresh.expiresAt],
      [old.principal, 'old', old.scopes, '1000/min', old.expiresAt],
    )
    await admin('DELETE', `/admin/keys/${old.id}`)
    const headers = { authorization: `Bearer ${fresh.key}` }
    const { payload } = await team.call('GetTask', { id: sent.payload.task.id }, { headers })
    assert.equal(payload.id, sent.payload.task.id)
  })
})

describe('a token', () => {
  it('authenticates its caller as issuer and subject, with the mapped scopes [S4-15 B-150]', async () => {
    for (const issuer of [accessServer.one, accessServer.two]) {
      const headers = { authorization: `Bearer ${await issuer.token({ groups: ['team'] })}` }
      for (const way of bindingVersions) {
        const { status, body } = await peer('team', way).call('SendMessage', messageParams('hi'), { headers })
        assert.equal(status, 200)
        assert.ok(JSON.stringify(body).includes(`for ${issuer.name}|ann`))
      }
    }
  })

  it('without the right scopes grants access only to open agents [B-154]', async () => {
    const headers = {
      authorization: `Bearer ${await accessServer.one.token({ scope: 'agent:* agent:team', groups: ['x'] })}`,
    }
    const way = { binding: 'JSONRPC', version: '1.0' } as const
    assert.equal((await peer('team', way).call('SendMessage', messageParams('hi'), { headers })).status, 403)
    assert.equal((await peer('open', way).call('SendMessage', messageParams('hi'), { headers })).status, 200)
  })
})

describe('an anonymous caller', () => {
  it('may call the configured agents, and gets a challenge everywhere else [B-151 T-12]', async () => {
    for (const way of bindingVersions) {
      const sent = await peer('open', way).call('SendMessage', messageParams('hi'))
      assert.equal(sent.status, 200)
      assert.match(JSON.stringify(sent.body), /open to anonymous/)
      for (const agent of ['team', 'hidden', 'nowhere']) {
        const { status, headers } = await peer(agent, way).call('SendMessage', messageParams('hi'))
        assert.ok(codes.UNAUTHENTICATED.includes(status))
        assert.equal(headers.get('www-authenticate'), 'Bearer realm="parley", ApiKey in="header", name="X-API-Key"')
      }
    }
  })

  it('is not a caller with invalid credentials, even if none are required [B-151]', async () => {
    const wrong: readonly AuthHeaders[] = [
      { authorization: 'Bearer nonsense' },
      { authorization: 'Bearer' },
      { 'x-api-key': 'pk_000000000000_00000000000000000000000000000000000000' },
      { authorization: `Bearer ${await accessServer.one.token({ aud: 'another service' })}` },
      { authorization: `Bearer ${adminKey}` },
    ]
    for (const headers of wrong) {
      for (const way of bindingVersions) {
        const { status } = await peer('open', way).call('SendMessage', messageParams('hi'), { headers })
        assert.ok(codes.UNAUTHENTICATED.includes(status), `${JSON.stringify([headers, way])}: ${status}`)
      }
    }
  })
})

describe('a card', () => {
  it('declares the enforced schemes, a token or a key, and none for an open agent [S4-13 S2-28]', async () => {
    const card = async (agent: string, version: string) =>
      (await (await get(`/a2a/${agent}/agent-card`, { 'a2a-version': version })).json()) as any
    const team = await card('team', '1.0')
    assert.deepEqual(team.securitySchemes.bearer.httpAuthSecurityScheme.bearerFormat, 'JWT')
    assert.equal(team.securitySchemes.apiKey.apiKeySecurityScheme.name, 'X-API-Key')
    const names = (one: any) => Object.keys(one.schemes ?? {})
    assert.deepEqual(team.securityRequirements.map(names), [['bearer'], ['apiKey']])
    const open = await card('open', '1.0')
    assert.deepEqual([Object.keys(open.securitySchemes), open.securityRequirements], [['bearer', 'apiKey'], undefined])
    const old = await card('team', '0.3')
    assert.deepEqual(old.security, [{ bearer: [] }, { apiKey: [] }])
    const { type, scheme, bearerFormat } = old.securitySchemes.bearer
    assert.deepEqual([type, scheme.toLowerCase(), bearerFormat], ['http', 'bearer', 'JWT'])
  })

  it('that is private is served to permitted callers, and gives others the response of an unknown agent [S4-2 B-153]', async () => {
    const path = '.well-known/agent-card.json'
    assert.equal((await get(`/a2a/team/${path}`)).status, 200)
    const [mine, other] = [await key({ agents: ['hidden'] }), await key({ agents: ['team'] })]
    assert.equal((await get(`/a2a/hidden/${path}`, mine)).status, 200)
    for (const [proof, status] of [
      [{}, 401],
      [other, 403],
    ] as const) {
      const probe = async (agent: string) => {
        const response = await get(`/a2a/${agent}/${path}`, proof)
        return [response.status, (await response.text()).replaceAll(agent, '…')]
      }
      const seen = await probe('hidden')
      assert.equal(seen[0], status)
      assert.deepEqual(await probe('nowhere'), seen)
    }
  })
})
