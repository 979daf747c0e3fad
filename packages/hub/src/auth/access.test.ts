import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryNotes, type Caller, type Notes } from '@parley/a2a'
import type { Credentials } from '@parley/a2a/server'
import { createAccess } from './access.ts'
import type { AccessSettings } from './settings.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const settings = (over: Partial<AccessSettings> = {}): AccessSettings => ({
  isOpen: () => false,
  jwt: [],
  mtls: false,
  rates: { perAgent: new Map() },
  trustProxy: false,
  ...over,
})

function open(notes: Notes = memoryNotes(), over: Partial<AccessSettings> = {}) {
  return createAccess({
    notes,
    settings: settings(over),
    log: quiet,
    secrets: () => Promise.reject(new Error('not needed')),
  })
}

const showing = (headers: Readonly<Record<string, string>>, agent = 'team'): Credentials => ({
  ...{ method: 'POST', path: '/', query: '', header: (name: string) => headers[name], agent },
})

describe('access', () => {
  it('makes an admin key with the first store, and tells it once', async () => {
    const notes = memoryNotes()
    const first = await open(notes)
    assert.match(first.madeAdminKey ?? '', /^pka_/)
    assert.equal((await open(notes)).madeAdminKey, undefined)
  })

  it('goes by what it is told last, without a restart: who is open, which limits hold, what cards say', async () => {
    const access = await open()
    assert.equal(await access.authenticate(showing({})), undefined)
    const closed = access.security('team').securityRequirements
    const perAddress = { count: 1, windowMs: 1_000 }
    access.configure(settings({ isOpen: (agent) => agent === 'team', rates: { perAgent: new Map(), perAddress } }))
    const caller = (await access.authenticate(showing({}))) as Caller
    assert.equal(caller.anonymous, true)
    const asking = { agent: 'team', caller, version: '1.0', binding: 'GRPC', credentials: showing({}) } as const
    assert.equal((await access.admit(asking)).headers?.['x-ratelimit-limit'], '1')
    assert.deepEqual(access.security('team').securityRequirements, [...closed, { schemes: {} }])
    access.configure(settings())
    assert.equal((await access.admit(asking)).refuse?.code, 'PERMISSION_DENIED')
  })

  it('knows of callers in the log what they may use: for calls between agents', async () => {
    const access = await open(memoryNotes(), { isOpen: (agent) => agent === 'open' })
    const caller: Caller = { id: 'ann', scopes: ['agent:team', 'skill:gpt/sum'] }
    const may = ['team', 'gpt', 'open', 'hidden'].map((agent) => access.mayUse(caller, agent))
    assert.deepEqual(may, [true, true, true, false])
    assert.equal(access.mayUse({ id: 'anonymous', anonymous: true }, 'team'), false)
  })

  it('knows who asks for no agent in particular, guests too, but nobody by a key that is not good', async () => {
    const access = await open()
    const { key, info } = await access.keys.create({ name: 'x', scopes: ['agent:team'], createdBy: 'admin' })
    assert.equal((await access.identify(showing({ 'x-api-key': key }))).id, info.principal)
    assert.equal((await access.identify(showing({}))).anonymous, true)
    await assert.rejects(access.identify(showing({ 'x-api-key': 'nonsense' })), { code: 'UNAUTHENTICATED' })
  })

  it('writes what is pending when it is closed', async () => {
    const notes = memoryNotes()
    const access = await open(notes)
    const { key, info } = await access.keys.create({ name: 'x', scopes: ['agent:team'], createdBy: 'admin' })
    const caller = (await access.authenticate(showing({ 'x-api-key': key }))) as Caller
    access.onAnswer({ agent: 'team', caller, door: 'call', binding: 'GRPC', outcome: 'OK', status: 200, durationMs: 1 })
    await access.close()
    assert.equal(typeof (await notes.read('key-use', info.id))?.value, 'number')
    const [batch] = await notes.list('audit', { limit: 10 })
    assert.deepEqual(
      (batch?.value as { who?: string }[] | undefined)?.map(({ who }) => who),
      [info.principal],
    )
  })
})
