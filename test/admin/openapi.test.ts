/**
 * The document is complete and correct: it is valid, every route in it is called with and without
 * permission, and every response matches its schema.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openFakeRemote } from '../a2a-proxy/fake-remote.ts'
import { clientProof, sha256Hex } from '../../packages/hub/src/auth/key-format.ts'
import { findSchemaMismatch, findOpenApiErrors } from './openapi-rules.ts'
import { clientSecret, openOidcProvider } from './oidc-provider.ts'
import { adminKey, asAdmin, openTokenIssuer, openTestHub, type AuthHeaders, waitFor } from './test-hub.ts'

const issuer = await openTokenIssuer()
const provider = await openOidcProvider()
let cardVersion = '1.0.0'
const remote = await openFakeRemote(() => ({ result: {} }), { card: () => ({ version: cardVersion }) })
const receiver = await openFakeRemote(() => ({ status: 500 }))
after(() => Promise.all([remote.close(), receiver.close()]))
const testHub = await openTestHub({
  config: {
    admin: { key: adminKey, oidc: { issuer: provider.issuer, clientId: 'console', clientSecret } },
    access: {
      anonymous: ['echo'],
      jwt: [
        { ...issuer.entry, scopes: { team: ['agent:talker'] } },
        { issuer: provider.issuer, audience: 'console', scopes: { operators: ['admin'] } },
      ],
    },
    push: { allow: ['127.0.0.1'], schedule: ['1ms'] },
    routes: [{ name: 'bills', from: 'talker', when: { text: 'invoice' }, to: 'echo' }],
    agents: {
      talker: { kind: 'module', path: './talker.ts', default: true, card: 'private' },
      echo: { kind: 'demo', agent: 'echo' },
      partner: { kind: 'a2a', url: remote.url },
    },
  },
})
const { ask, send, call } = testHub
const { json: document } = await ask('GET', '/admin/openapi.json')
const member = await issuer.token({ sub: 'mia', groups: ['team'] })
const holder = await testHub.key({ agents: ['talker'] })

/** Results of earlier calls, for later ones. */
const known: Record<string, string> = {}

interface Trial {
  readonly name: string
  path?(): string
  body?(): unknown
  /** Default: the admin key. */
  proof?(): AuthHeaders | Promise<AuthHeaders>
  /** The preconditions. */
  before?(): Promise<unknown>
  check?(json: any, headers: Headers): void
  /** If this hub refuses it to authorized callers, too. */
  readonly refusal?: 409
}

/** In this order: later calls need the results of earlier ones. */
const trials: readonly Trial[] = [
  {
    name: 'signIn',
    check(json, headers) {
      known.cookie = (headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
      known.csrf = json.csrf
    },
  },
  { name: 'createSignInCode', check: (json) => (known.once = json.path.replace('/#code=', '')) },
  {
    name: 'redeemSignInCode',
    proof: () => ({}),
    body: () => ({ code: known.once }),
    check: (_, headers) => assert.match(headers.getSetCookie()[0] ?? '', /^parley-session=[^;]/),
  },
  {
    name: 'proveAdminKey',
    proof: () => ({}),
    body: () => ({ nonce: 'n'.repeat(43), proof: clientProof(sha256Hex(adminKey), 'n'.repeat(43)) }),
  },
  { name: 'getSignIn', proof: () => ({}), check: (json) => assert.equal(json.oidc.issuer, provider.issuer) },
  {
    name: 'startSignIn',
    proof: () => ({}),
    check(_, headers) {
      const location = new URL(headers.get('location') ?? '')
      known.code = provider.signIn(location, { sub: 'olga', groups: ['operators'] })
      known.state = location.searchParams.get('state') ?? ''
      known.began = (headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
    },
  },
  {
    name: 'finishSignIn',
    path: () => `/admin/sign-in/oidc/callback?code=${known.code}&state=${known.state}`,
    proof: () => ({ cookie: known.began ?? '' }),
    check: (_, headers) => assert.match(headers.getSetCookie()[0] ?? '', /^parley-session=[^;]/),
  },
  { name: 'getSession', check: (json) => assert.equal(json.subject, 'admin') },
  {
    name: 'listSessions',
    check(json) {
      known.session = json.sessions.find(({ by }: { by: string }) => by === 'oidc').id
    },
  },
  { name: 'endSession', path: () => `/admin/sessions/${known.session}` },
  {
    name: 'createKey',
    body: () => ({ name: 'made', agents: ['echo'], rate: '60/min', tasksPerDay: 9, expiresIn: '1d', tenant: 't' }),
    check: (json) => (known.id = json.id),
  },
  { name: 'listKeys', check: (json) => assert.ok(json.keys.length >= 2) },
  { name: 'getKey', path: () => `/admin/keys/${known.id}` },
  { name: 'revokeKey', path: () => `/admin/keys/${known.id}`, check: (json) => assert.equal(json.state, 'revoked') },
  {
    name: 'setSecret',
    path: () => '/admin/secrets/made',
    body: () => ({ value: 'a value' }),
    check: (json) => assert.deepEqual([json.isSet, json.agents], [true, []]),
  },
  { name: 'listSecrets', check: (json) => assert.equal(json.secrets[0].name, 'made') },
  { name: 'removeSecret', path: () => '/admin/secrets/made' },
  { name: 'rotateSigningKeys', check: (json) => assert.ok(json.rotated.includes('hop')) },
  {
    name: 'rotateAdminKey',
    body: () => ({ overlap: '1h' }),
    refusal: 409,
    check: (json) => assert.match(json.error.message, /Set another one as admin\.key/),
  },
  { name: 'rotateMasterKey', check: (json) => assert.ok(json.keys > 5) },
  {
    name: 'generateOwnKey',
    path: () => '/a2a/talker/api-key/generate',
    proof: () => member,
    check: (json) => (known.own = json.id),
  },
  {
    name: 'listOwnKeys',
    path: () => '/a2a/talker/api-key',
    proof: () => member,
    check: (json) =>
      assert.deepEqual(
        json.keys.map(({ id }: { id: string }) => id),
        [known.own],
      ),
  },
  { name: 'revokeOwnKey', path: () => `/a2a/talker/api-key/${known.own}`, proof: () => member },
  { name: 'listAudit', check: (json) => assert.ok(json.entries.length > 5) },
  { name: 'exportAudit', check: (json) => assert.ok(json.entries.length > 5 && json.isEnd) },
  {
    name: 'listAgents',
    before: () => send('talker', 'fail', holder),
    check(json) {
      const [talker] = json.agents
      assert.deepEqual([talker.kind, talker.isCardPrivate, talker.isOpen], ['module', true, false])
      assert.equal(talker.lastError.text, 'The agent failed')
    },
  },
  {
    name: 'getAgent',
    path: () => '/admin/agents/talker',
    check: (json) => assert.equal(json.entry.path, './talker.ts'),
  },
  {
    name: 'lookAtAgent',
    path: () => '/admin/agents/partner/look',
    before: async () => {
      await ask('POST', '/admin/agents/partner/look')
      cardVersion = '2.0.0'
    },
    check: (json) => assert.equal(json.drift, 'changed'),
  },
  {
    name: 'stopRetryingAgent',
    path: () => '/admin/agents/partner/stop-retrying',
    // No effect on an agent that is up.
    check: (json) => assert.deepEqual([json.health.state, json.retry], ['up', undefined]),
  },
  {
    name: 'retryAgent',
    path: () => '/admin/agents/partner/retry',
    check: (json) => assert.deepEqual([json.health.state, json.retry], ['up', undefined]),
  },
  {
    name: 'getAgentCards',
    path: () => '/admin/agents/partner/card',
    check(json) {
      assert.deepEqual(Object.keys(json.cards), ['merged', '1.0', '0.3', '0.2'])
      assert.deepEqual(json.remote.changed.fields, ['version'])
      known.fingerprint = json.remote.changed.fingerprint
    },
  },
  {
    name: 'approveCard',
    path: () => '/admin/agents/partner/card/approve',
    body: () => ({ fingerprint: known.fingerprint }),
    check: (json) => assert.equal(json.drift, undefined),
  },
  { name: 'listKinds', check: (json) => assert.ok(json.kinds.some(({ kind }: { kind: string }) => kind === 'a2a')) },
  {
    name: 'detectAgent',
    body: () => ({ target: remote.url }),
    check: (json) => assert.ok(json.kind === 'a2a' || json.reasons.length > 0, JSON.stringify(json)),
  },
  {
    name: 'addAgent',
    body: () => ({ name: 'added', entry: { kind: 'demo', agent: 'echo' } }),
    check: (json) => assert.deepEqual(json.effects.added, ['added']),
  },
  {
    name: 'reviewAgent',
    path: () => '/admin/agents/added/review',
    body: () => ({ entry: { kind: 'demo', agent: 'clock' } }),
    check: (json) => {
      assert.deepEqual([json.format, json.text], ['yaml', 'kind: demo\nagent: clock\n'])
      assert.deepEqual(json.effects.changed, ['added'])
    },
  },
  {
    name: 'changeAgent',
    path: () => '/admin/agents/added',
    body: () => ({ entry: { kind: 'demo', agent: 'clock' }, note: 'a clock instead' }),
    check: (json) => assert.deepEqual(json.effects.changed, ['added']),
  },
  {
    name: 'removeAgent',
    path: () => '/admin/agents/added',
    check: (json) => assert.deepEqual(json.effects.removed, ['added']),
  },
  {
    name: 'listTasks',
    before: async () => {
      const task = await send('talker', 'ask about a city', holder)
      known.task = task.id
      known.context = task.contextId
    },
    path: () => '/admin/tasks?agent=talker&state=TASK_STATE_INPUT_REQUIRED,TASK_STATE_FAILED&limit=5&text=CITY',
    check: (json) =>
      assert.deepEqual(
        json.tasks.map(({ id }: { id: string }) => id),
        [known.task],
      ),
  },
  { name: 'countTasks', check: (json) => assert.equal(json.states.TASK_STATE_INPUT_REQUIRED, 1) },
  {
    name: 'getTask',
    path: () => `/admin/tasks/${known.task}`,
    check: (json) => assert.equal(json.task.id, known.task),
  },
  {
    name: 'listTaskEvents',
    path: () => `/admin/tasks/${known.task}/events?limit=2`,
    check: (json) => assert.deepEqual([json.events.length, json.after], [2, 2]),
  },
  {
    name: 'listTaskFrames',
    path: () => `/admin/tasks/${known.task}/wire`,
    check: (json) => assert.ok(json.events.every(({ frames }: { frames: unknown[] }) => frames.length >= 4)),
  },
  {
    name: 'cancelTask',
    path: () => `/admin/tasks/${known.task}/cancel`,
    check: (json) => assert.equal(json.task.status.state, 'TASK_STATE_CANCELED'),
  },
  {
    name: 'listTraces',
    before: () =>
      waitFor(async () => {
        const { json } = await ask('GET', '/admin/traces')
        return json.traces.length > 0 ? true : undefined
      }, 'a trace is listed'),
    check: (json) => assert.equal(json.traces[0].type, 'A2A_TASK'),
  },
  {
    name: 'getTrace',
    path: () => `/admin/traces/${known.task}`,
    check: (json) => assert.equal(json.traces[0].root.taskId, known.task),
  },
  { name: 'listRoutes', check: (json) => assert.deepEqual([json.routes[0].name, json.routes[0].route], ['bills', 0]) },
  {
    name: 'decideRoute',
    body: () => ({ agent: 'talker', text: 'an invoice' }),
    check: (json) => assert.deepEqual([json.route, json.to], [0, ['echo']]),
  },
  {
    name: 'listPush',
    before: async () => {
      const task = await send('talker', 'hello', holder)
      known.pushed = task.id
      const params = { taskId: task.id, id: 'hook/1', url: `${receiver.url}/hook?token=secret` }
      const made = await call('talker', 'CreateTaskPushNotificationConfig', params, holder)
      assert.equal(made.status, 200, JSON.stringify(made.json))
      await testHub.call('talker', 'CancelTask', { id: task.id }, holder)
    },
    path: () => '/admin/push?limit=5',
    check(json) {
      assert.deepEqual([json.push[0].taskId, json.push[0].configId], [known.pushed, 'hook/1'])
      assert.ok(!JSON.stringify(json).includes('secret'))
    },
  },
  {
    name: 'redeliver',
    path: () => `/admin/push/${known.pushed}/hook%2F1/redeliver`,
    body: () => ({ afterSeq: 0 }),
    check: (json) => assert.equal(json.state, 'active'),
  },
  {
    name: 'getPush',
    path: () => `/admin/push/${known.pushed}/hook%2F1`,
    before: () =>
      waitFor(async () => {
        const { json } = await ask('GET', '/admin/push?state=dead')
        return json.push.length > 0 ? true : undefined
      }, 'the webhook is given up'),
    check: (json) => assert.match(json.attempts[0].outcome, /500/),
  },
  { name: 'getConfig', check: (json) => Object.assign(known, { text: json.text, hash: json.hash }) },
  { name: 'getConfigSchema', check: (json) => assert.ok(json.properties.agents) },
  {
    name: 'checkConfig',
    body: () => ({ text: 'agents: { x: { kind: demmo } }' }),
    check: (json) => assert.deepEqual([json.problems[0].path, json.problems[0].line], ['agents.x.kind', 1]),
  },
  {
    name: 'diffConfig',
    body: () => ({ text: `${known.text}# the end\n` }),
    check: (json) => assert.equal(json.diff.at(-1).change, 'added'),
  },
  {
    name: 'applyConfig',
    body: () => ({ text: `${known.text}# the end\n`, base: known.hash, note: 'a last word' }),
    check: (json) => (known.version = json.version),
  },
  {
    name: 'listConfigVersions',
    check: (json) => assert.deepEqual([json.versions[0].id, json.versions[0].isCurrent], [known.version, true]),
  },
  { name: 'getConfigVersion', path: () => `/admin/config/versions/${known.version}` },
  { name: 'reloadConfig', check: (json) => assert.deepEqual(json.effects.changed, []) },
  { name: 'restoreConfig', path: () => `/admin/config/versions/${known.version}/restore` },
  { name: 'getHealth', check: (json) => assert.equal(json.store.isReady, true) },
  {
    name: 'getStats',
    path: () => '/admin/stats?range=24h&agent=talker',
    check(json) {
      assert.deepEqual([json.steps.length, json.stepMs, json.agent], [288, 300_000, 'talker'])
      assert.ok(json.totals.calls > 0 && json.totals.failed > 0)
    },
  },
  {
    name: 'listCallers',
    check: (json) => assert.ok(json.callers.some(({ calls }: { calls: number }) => calls > 0)),
  },
  {
    name: 'getAgentTimes',
    path: () => '/admin/agents/talker/times',
    check: (json) => assert.ok(json.tasks > 0 && json.times.otherMs >= 0 && !json.isCut),
  },
  {
    name: 'listFailures',
    path: () => '/admin/failures?agent=talker&limit=1',
    check(json) {
      assert.equal(json.groups[0].agent, 'talker')
      assert.ok(json.read > 0 && json.groups[0].count > 0 && !json.isCut)
    },
  },
  {
    name: 'search',
    path: () => `/admin/search?q=${known.task?.slice(0, 20)}`,
    check: (json) => assert.ok(json.tasks.some(({ id }: { id: string }) => id === known.task)),
  },
  {
    name: 'previewErasure',
    body: () => ({ caller: 'nina' }),
    check: (json) => assert.equal(json.counts.tasks, 0),
  },
  {
    name: 'eraseCaller',
    body: () => ({ caller: 'nina' }),
    check: (json) => void (known.erasure = json.id),
  },
  { name: 'getErasure', path: () => `/admin/erasures/${known.erasure}` },
  { name: 'listErasures', check: (json) => assert.equal(json.erasures[0].id, known.erasure) },
  { name: 'previewPrune', check: (json) => assert.ok(Array.isArray(json.estimates)) },
  { name: 'prune' },
  { name: 'followChanges', path: () => '/admin/events' },
  { name: 'followLogs', path: () => '/admin/logs' },
  { name: 'getOpenApi', check: (json) => assert.deepEqual(json, document) },
  { name: 'signOut', proof: () => ({ cookie: known.cookie ?? '', 'x-csrf-token': known.csrf ?? '' }) },
]

interface Operation {
  readonly method: string
  readonly path: string
  readonly responses: Readonly<Record<string, any>>
  /** Routes for sign-in. */
  readonly isForAll: boolean
}

const operations = new Map<string, Operation>(
  Object.entries<any>(document.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, { operationId, responses, security }]) => [
      operationId,
      {
        method: method.toUpperCase(),
        path,
        responses,
        isForAll: security.some((way: object) => Object.keys(way).length === 0),
      },
    ]),
  ),
)

describe('the OpenAPI document', () => {
  it('is a valid document of version 3.1', () => {
    assert.deepEqual(findOpenApiErrors(document), [])
  })

  it('would be rejected if it were invalid', () => {
    const spoiled = structuredClone(document)
    const { get } = spoiled.paths['/admin/keys/{id}']
    get.parameters[0].name = 'key'
    get.operationId = 'listKeys'
    get.responses['200'].content['application/json'].schema = { $ref: '#/components/schemas/Nothing' }
    spoiled.components.schemas.Key.properties.name = { type: 'text' }
    delete spoiled.info.title
    assert.equal(findOpenApiErrors(spoiled).length, 5)
    assert.equal(
      findSchemaMismatch(document, { $ref: '#/components/schemas/Error' }, { error: { code: 'X' } }),
      '$.error: message is missing',
    )
  })

  it('has only sign-in routes without authentication', () => {
    const open = [...operations].filter(([, { isForAll }]) => isForAll).map(([name]) => name)
    assert.deepEqual(open.sort(), ['finishSignIn', 'getSignIn', 'proveAdminKey', 'redeemSignInCode', 'startSignIn'])
  })

  it('has exactly the routes called below', () => {
    assert.deepEqual(trials.map(({ name }) => name).sort(), [...operations.keys()].sort())
  })
})

describe('every route', () => {
  for (const { name, path, body, proof, before, check, refusal } of trials) {
    it(`${name} answers authorized callers as documented, and rejects all others`, async () => {
      const operation = operations.get(name) as Operation
      await before?.()
      const at = path?.() ?? operation.path
      const given = body?.()
      if (!operation.isForAll) await refuses(operation, at, given, name)
      if (name === 'followChanges') return followed(at, /^retry: 1000\nid: \d+-\d+\nevent: ready\ndata: \{"instance":/)
      if (name === 'followLogs') return followed(at, /^retry: 1000\n\nid: [0-9a-f]{8}-1\nevent: line\ndata: \{"time":/)
      const { status, headers, json } = await ask(operation.method, at, given, (await proof?.()) ?? asAdmin)
      const documented = Object.entries(operation.responses)[0] ?? []
      const [expected = '', response] =
        refusal === undefined ? documented : [`${refusal}`, operation.responses['default']]
      assert.equal(String(status), expected, `${operation.method} ${at}: ${JSON.stringify(json)}`)
      assert.equal(headers.get('cache-control'), 'no-store')
      const schema = response.content?.['application/json'].schema ?? false
      if (json !== undefined) assert.equal(findSchemaMismatch(document, schema, json), undefined)
      check?.(json, headers)
    })
  }

  /** Without permission: no credentials, a key, a token without the admin role, half a session. */
  async function refuses({ method, responses }: Operation, at: string, given: unknown, name: string): Promise<void> {
    const isOwn = at.startsWith('/a2a/')
    const nonAdmin = await issuer.token({ sub: 'eve' })
    const cookie: AuthHeaders = { cookie: known.cookie ?? '' }
    // These accept no session, with or without its CSRF token.
    const isForKeys = name === 'signIn' || name === 'createSignInCode'
    const isReading = method === 'GET'
    const wrong: readonly (readonly [AuthHeaders, number])[] = [
      [{}, 401],
      [holder, isOwn ? 403 : 401],
      [nonAdmin, 403],
      ...(isOwn ? [] : [[member, 403] as const]),
      ...(isReading || isForKeys ? [] : [[cookie, 403] as const]),
      [{ ...cookie, cookie: `${cookie.cookie}x` }, 401],
    ]
    for (const [shown, expected] of wrong) {
      const { status, json } = await ask(method, at, given, shown)
      const what = `${method} ${at} with ${Object.keys(shown).join(' ')}: ${JSON.stringify(json)}`
      // Too many wrong keys are rate limited.
      assert.ok(status === expected || (status === 429 && shown === holder), what)
      assert.equal(
        findSchemaMismatch(document, responses['default'].content['application/json'].schema, json),
        undefined,
        what,
      )
    }
  }

  async function followed(at: string, start: RegExp): Promise<void> {
    const leaving = new AbortController()
    const response = await fetch(testHub.url + at, { headers: { cookie: known.cookie ?? '' }, signal: leaving.signal })
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/event-stream'])
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    assert.match(new TextDecoder().decode(value), start)
    leaving.abort()
  }
})

describe('invalid requests', () => {
  it('get every violation and its path, and change nothing', async () => {
    const wrong: readonly (readonly [method: string, path: string, body: unknown, said: RegExp])[] = [
      ['GET', '/admin/tasks?limit=0', undefined, /limit: must be a number above 0/],
      ['GET', '/admin/tasks?limit=9999', undefined, /limit: ask for up to 500/],
      ['GET', '/admin/tasks?state=DONE', undefined, /state\.0: /],
      ['GET', '/admin/tasks?since=yesterday', undefined, /since: must be a time/],
      ['GET', '/admin/tasks?colour=red', undefined, /query: .*colour/],
      ['GET', '/admin/tasks?before=nonsense', undefined, /before: must be the value returned by the previous page/],
      ['GET', '/admin/push?state=lost', undefined, /state: /],
      ['POST', '/admin/agents', { name: 'a b', entry: { kind: 'demo' } }, /name: a name is/],
      ['POST', '/admin/agents', { name: 'x', entry: {} }, /entry\.kind/],
      ['POST', '/admin/agents', { name: 'x', entry: { kind: 'demo', agent: 'unknown' } }, /agents\.x\.agent: line \d+/],
      ['POST', '/admin/agents/detect', { target: [] }, /target/],
      ['PUT', '/admin/agents/echo', {}, /entry: is missing/],
      ['PUT', '/admin/agents/echo', { text: '- kind' }, /must be a mapping/],
      ['PUT', '/admin/config', { text: 'agents: {}' }, /agents: .*must contain at least one agent/],
      ['PUT', '/admin/config', { text: 'agents: [' }, /invalid YAML/],
      ['POST', '/admin/routes/decide', {}, /agent: /],
    ]
    for (const [method, path, body, said] of wrong) {
      const { status, json } = await ask(method, path, body)
      assert.deepEqual([status, json.error.code], [400, 'INVALID_PARAMS'], `${method} ${path}`)
      assert.match(json.error.message, said)
      assert.ok(json.error.violations.length > 0)
    }
  })

  it('get 404 for unknown resources, and 409 for conflicts', async () => {
    const missing: readonly (readonly [method: string, path: string, body?: unknown])[] = [
      ['GET', '/admin/agents/unknown'],
      ['GET', '/admin/agents/unknown/card'],
      ['POST', '/admin/agents/unknown/look'],
      ['POST', '/admin/agents/echo/card/approve', { fingerprint: 'x' }],
      ['PUT', '/admin/agents/unknown', { entry: { kind: 'demo' } }],
      ['POST', '/admin/agents/unknown/review', {}],
      ['DELETE', '/admin/agents/unknown'],
      ['GET', '/admin/tasks/none'],
      ['GET', '/admin/tasks/none/events'],
      ['GET', '/admin/tasks/none/wire'],
      ['POST', '/admin/tasks/none/cancel'],
      ['GET', '/admin/traces/none'],
      ['GET', '/admin/push/none/none'],
      ['POST', '/admin/push/none/none/redeliver'],
      ['GET', '/admin/config/versions/none'],
      ['POST', '/admin/config/versions/none/restore'],
      ['POST', '/admin/routes/decide', { agent: 'unknown', text: 'x' }],
      ['GET', '/admin/tasks/%ff'],
    ]
    for (const [method, path, body] of missing) {
      const { status, json } = await ask(method, path, body)
      assert.deepEqual([status, json.error.code], [404, 'NOT_FOUND'], `${method} ${path}`)
    }
    const conflicts: readonly (readonly [method: string, path: string, body?: unknown])[] = [
      ['POST', `/admin/tasks/${known.pushed}/cancel`],
      ['POST', '/admin/agents', { name: 'echo', entry: { kind: 'demo', agent: 'echo' } }],
      ['POST', '/admin/agents/partner/card/approve', { fingerprint: 'x' }],
      ['PUT', '/admin/config', { text: known.text, base: 'of another' }],
    ]
    for (const [method, path, body] of conflicts) {
      const { status, json } = await ask(method, path, body)
      assert.deepEqual([status, json.error.code], [409, 'CONFLICT'], `${method} ${path}: ${JSON.stringify(json)}`)
    }
  })
})
