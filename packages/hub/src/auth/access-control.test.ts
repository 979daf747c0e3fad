import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Caller } from '@parley/a2a'
import { memoryKeyValueStore, type KeyValueStore } from '@parley/a2a/stores'
import { createAccessControl } from './access-control.ts'
import type { AccessSettings } from './admit-request.ts'
import { testCall } from './testing/test-call.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const settings = (over: Partial<AccessSettings> = {}): AccessSettings => ({
  isAnonymousAllowed: () => false,
  jwt: [],
  mtls: false,
  rates: { perAgent: new Map() },
  trustProxy: false,
  ...over,
})

function open(kv: KeyValueStore = memoryKeyValueStore(), over: Partial<AccessSettings> = {}) {
  return createAccessControl({
    kv,
    settings: settings(over),
    log: quiet,
    secrets: () => Promise.reject(new Error('not needed')),
  })
}

describe('access', () => {
  it('creates an admin key with the first store, and shows it once', async () => {
    const kv = memoryKeyValueStore()
    const first = await open(kv)
    assert.match(first.newAdminKey ?? '', /^pka_/)
    assert.equal((await open(kv)).newAdminKey, undefined)
  })

  it('applies new settings without a restart: anonymous access, limits, card security', async () => {
    const access = await open()
    assert.equal(await access.authenticate(testCall()), undefined)
    const closed = access.security('team').securityRequirements
    const perAddress = { count: 1, windowMs: 1_000 }
    access.configure(
      settings({ isAnonymousAllowed: (agent) => agent === 'team', rates: { perAgent: new Map(), perAddress } }),
    )
    const call = testCall()
    const caller = (await access.authenticate(call)) as Caller
    assert.equal(caller.anonymous, true)
    const asking = { ...call, caller }
    assert.equal((await access.admit(asking)).headers?.['x-ratelimit-limit'], '1')
    assert.deepEqual(access.security('team').securityRequirements, [...closed, { schemes: {} }])
    access.configure(settings())
    assert.equal((await access.admit(asking)).refuse?.code, 'PERMISSION_DENIED')
  })

  it('knows of callers in the log what they may use: for calls between agents', async () => {
    const access = await open(memoryKeyValueStore(), { isAnonymousAllowed: (agent) => agent === 'open' })
    const caller: Caller = { id: 'ann', scopes: ['agent:team', 'skill:gpt/sum'] }
    const may = ['team', 'gpt', 'open', 'hidden'].map((agent) => access.canUse(caller, agent))
    assert.deepEqual(may, [true, true, true, false])
    assert.equal(access.canUse({ id: 'anonymous', anonymous: true }, 'team'), false)
  })

  it('identifies callers of requests without an agent, anonymous ones too, and refuses an invalid key', async () => {
    const access = await open()
    const { key, info } = await access.keys.create({ name: 'x', scopes: ['agent:team'], createdBy: 'admin' })
    assert.equal((await access.identify(testCall({ 'x-api-key': key }))).caller.id, info.principal)
    assert.equal((await access.identify(testCall())).caller.anonymous, true)
    await assert.rejects(access.identify(testCall({ 'x-api-key': 'nonsense' })), { code: 'UNAUTHENTICATED' })
  })

  it('writes what is pending when it is closed', async () => {
    const kv = memoryKeyValueStore()
    const access = await open(kv)
    const { key, info } = await access.keys.create({ name: 'x', scopes: ['agent:team'], createdBy: 'admin' })
    const call = testCall({ 'x-api-key': key })
    const caller = (await access.authenticate(call)) as Caller
    access.onOutcome({
      ...call,
      caller,
      outcome: 'OK',
      status: 200,
      durationMs: 1,
    })
    await access.close()
    assert.equal(typeof (await kv.read('key-use', info.id))?.value, 'number')
    const [batch] = await kv.list('audit', { limit: 10 })
    assert.deepEqual(
      (batch?.value as { who?: string }[] | undefined)?.map(({ who }) => who),
      [info.principal],
    )
  })
})
