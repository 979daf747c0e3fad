import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError, type Caller } from '@parley/a2a'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import type { Sealer, Signer } from '@parley/a2a/internal'
import { sha256Hex } from './key-format.ts'
import type { RenewedTokens, SessionGrant } from './session-check.ts'
import { createConsoleSessions, adminKeyMark } from './console-session.ts'

const signer: Signer & Sealer = {
  sign: async (purpose, text) => `1.${sha256Hex(`${purpose} ${text}`).slice(0, 43)}`,
  verify: async (purpose, text, signature) => signature === `1.${sha256Hex(`${purpose} ${text}`).slice(0, 43)}`,
  seal: async (purpose, text, about) => Buffer.from(JSON.stringify([purpose, about, text])).toString('base64'),
  async unseal(purpose, sealed, about) {
    const [sealedFor, of, text] = JSON.parse(Buffer.from(sealed, 'base64').toString()) as [string, string, string]
    assert.deepEqual([sealedFor, of], [purpose, about])
    return text
  },
}

const ann = 'https://id.example.com|ann'
/** A token with the claims that a session reads. */
const tokenOf = (name: string, expiresAt: number): string =>
  `${name}.${Buffer.from(JSON.stringify({ exp: expiresAt / 1_000 })).toString('base64url')}.`
const byToken = (expiresAt: number): SessionGrant => ({ by: 'token', token: tokenOf('first', expiresAt) })

/** The current answers of the issuer and the configuration. */
interface World {
  scopes: readonly string[]
  renewed: RenewedTokens | undefined | A2AError
  unavailable?: boolean
}

const usual = (): World => ({ scopes: ['admin'], renewed: undefined })

function open({
  clock = { at: 1_000_000, stepMs: 0 },
  kv = memoryKeyValueStore(() => clock.at),
  adminMark = 'a',
  world = usual(),
  ended = [] as string[],
  asked = [] as string[],
} = {}) {
  const sessions = createConsoleSessions({
    secrets: async () => signer,
    kv,
    isAdminMark: async (mark) => mark === adminKeyMark(sha256Hex(adminMark)),
    now: () => clock.at + clock.stepMs,
    monotonicNow: () => clock.at,
    async prove(): Promise<Caller> {
      if (world.unavailable === true) throw new A2AError('UNAVAILABLE', 'the issuer is away')
      return { id: ann, scopes: world.scopes }
    },
    async renew(refreshToken) {
      asked.push(refreshToken)
      await new Promise(setImmediate)
      if (world.renewed instanceof A2AError) throw world.renewed
      return world.renewed
    },
    pause: () => new Promise(setImmediate),
    onEnded: async (id) => void ended.push(id),
  })
  return { sessions, kv, clock, world, ended, asked }
}
const pairOf = (cookie: string): string => cookie.split(';')[0] ?? ''

describe('sessions', () => {
  it('of the admin key are over after twelve hours', async () => {
    const { sessions, clock } = open()
    const { cookie } = await sessions.open({ subject: 'admin', grant: sessions.adminGrant('a') }, false)
    clock.at += 12 * 3_600_000 - 1
    assert.equal((await sessions.read(pairOf(cookie)))?.subject, 'admin')
    clock.at += 1
    assert.equal(await sessions.read(pairOf(cookie)), undefined)
  })

  it('are listed with their last use, which another replica learns when it is written', async () => {
    const { sessions, kv, clock } = open()
    const other = open({ kv, clock }).sessions
    const { cookie, createdAt } = await sessions.open({ subject: 'admin', grant: sessions.adminGrant('a') }, false)
    const lastUses = async (): Promise<readonly unknown[]> =>
      (await Promise.all([sessions, other].map((one) => one.list({ limit: 10 })))).map(([found]) => found?.lastUsedAt)
    assert.deepEqual(await lastUses(), [createdAt, createdAt])
    clock.at += 60_000
    assert.ok(await sessions.read(pairOf(cookie)))
    assert.deepEqual(await lastUses(), [clock.at, createdAt])
    await sessions.close()
    assert.deepEqual(await lastUses(), [clock.at, clock.at])
  })

  it('that were ended at one replica are over at another within a second', async () => {
    const { sessions, kv, clock, ended } = open()
    const other = open({ kv, clock }).sessions
    const opened = await sessions.open({ subject: 'admin', grant: sessions.adminGrant('a') }, false)
    assert.ok(await other.read(pairOf(opened.cookie)))
    assert.equal(await sessions.end(opened.id), true)
    assert.deepEqual(ended, [opened.id])
    assert.equal(await sessions.read(pairOf(opened.cookie)), undefined)
    clock.at += 1_000
    assert.equal(await other.read(pairOf(opened.cookie)), undefined)
    assert.equal(await other.end(opened.id), false)
  })

  it('that were ended at one replica are over at another within a second, though its clock was set back', async () => {
    const { sessions, kv } = open()
    const clock = { at: 1_000_000, stepMs: 0 }
    const other = open({ kv, clock }).sessions
    const opened = await sessions.open({ subject: 'admin', grant: sessions.adminGrant('a') }, false)
    assert.ok(await other.read(pairOf(opened.cookie)))
    await sessions.end(opened.id)
    clock.stepMs = -3_600_000
    clock.at += 1_000
    assert.equal(await other.read(pairOf(opened.cookie)), undefined)
  })

  it('are listed until they end, without what opened them', async () => {
    const { sessions } = open()
    const first = await sessions.open({ subject: 'admin', grant: sessions.adminGrant('a'), from: '192.0.2.1' }, false)
    const second = await sessions.open({ subject: ann, grant: byToken(2_000_000) }, false)
    const shown = await sessions.list({ limit: 10 })
    assert.deepEqual(
      shown.map(({ id, subject, by, from }) => [id, subject, by, from]),
      [
        [first.id, 'admin', 'key', '192.0.2.1'],
        [second.id, ann, 'token', undefined],
      ],
    )
    assert.doesNotMatch(JSON.stringify(shown), /first/)
    await sessions.end(first.id)
    assert.deepEqual(
      (await sessions.list({ limit: 10 })).map(({ id }) => id),
      [second.id],
    )
  })

  it('of the admin end with the admin key, and those of others do not', async () => {
    const { sessions, kv, clock } = open()
    const mine = await sessions.open({ subject: 'admin', grant: sessions.adminGrant('a') }, false)
    const theirs = await sessions.open({ subject: ann, grant: byToken(clock.at + 60_000) }, false)
    const after = open({ kv, clock, adminMark: 'b' }).sessions
    assert.equal(await after.read(pairOf(mine.cookie)), undefined)
    assert.equal((await after.read(pairOf(theirs.cookie)))?.subject, ann)
    assert.notEqual(adminKeyMark(sha256Hex('one key')), adminKeyMark(sha256Hex('another')))
  })

  it('have two halves that belong together', async () => {
    const { sessions } = open()
    const order = { subject: 'admin', grant: sessions.adminGrant('a') }
    const [one, other] = [await sessions.open(order, true), await sessions.open(order, true)]
    assert.equal(await sessions.verifyCsrf(one, one.csrf), true)
    assert.equal(await sessions.verifyCsrf(one, other.csrf), false)
    assert.equal(await sessions.verifyCsrf(one, undefined), false)
    assert.match(one.cookie, /^__Host-parley-session=/)
  })
})

describe('a session that a token opened', () => {
  it('ends with the token, long before twelve hours are over', async () => {
    const { sessions, clock, ended } = open()
    const { id, cookie } = await sessions.open({ subject: ann, grant: byToken(clock.at + 60_000) }, false)
    assert.match(cookie, /Max-Age=60(;|$)/)
    clock.at += 59_999
    assert.ok(await sessions.read(pairOf(cookie)))
    clock.at += 1
    assert.equal(await sessions.read(pairOf(cookie)), undefined)
    assert.equal(await sessions.check(id), undefined)
    assert.deepEqual(ended, [])
  })

  it('ends at the next request when its bearer is an admin no more', async () => {
    const { sessions, clock, world, ended } = open()
    const { id, cookie } = await sessions.open({ subject: ann, grant: byToken(clock.at + 60_000) }, false)
    assert.ok(await sessions.read(pairOf(cookie)))
    world.scopes = ['agent:*']
    assert.equal(await sessions.read(pairOf(cookie)), undefined)
    assert.deepEqual(ended, [id])
    // It is not restored: the user has to sign in again.
    world.scopes = ['admin']
    assert.equal(await sessions.read(pairOf(cookie)), undefined)
  })

  it('is neither good nor ended while its issuer cannot be asked', async () => {
    const { sessions, clock, world } = open()
    const { cookie } = await sessions.open({ subject: ann, grant: byToken(clock.at + 60_000) }, false)
    world.unavailable = true
    await assert.rejects(sessions.read(pairOf(cookie)), { code: 'UNAVAILABLE' })
    world.unavailable = false
    assert.ok(await sessions.read(pairOf(cookie)))
  })
})

describe('a session with a refresh token', () => {
  const signedIn = async (parts: ReturnType<typeof open>) =>
    parts.sessions.open(
      { subject: ann, grant: { by: 'oidc', token: tokenOf('first', parts.clock.at + 60_000), refreshToken: 'r1' } },
      false,
    )

  it('is renewed when its token expires, by the newest refresh token each time', async () => {
    const parts = open()
    const { sessions, clock, world, asked } = parts
    const { cookie } = await signedIn(parts)
    assert.match(cookie, /Max-Age=43200(;|$)/)
    clock.at += 60_000
    world.renewed = { token: tokenOf('second', clock.at + 60_000), refreshToken: 'r2' }
    const both = await Promise.all([sessions.read(pairOf(cookie)), sessions.read(pairOf(cookie))])
    assert.ok(both.every((session) => session?.grantExpiresAt === clock.at + 60_000))
    assert.deepEqual(asked, ['r1'])
    clock.at += 60_000
    world.renewed = { token: tokenOf('third', clock.at + 60_000) }
    assert.ok(await sessions.read(pairOf(cookie)))
    clock.at += 60_000
    world.renewed = { token: tokenOf('fourth', clock.at + 60_000) }
    assert.ok(await sessions.read(pairOf(cookie)))
    assert.deepEqual(asked, ['r1', 'r2', 'r2'])
  })

  it('is renewed by one replica, for all', async () => {
    const parts = open()
    const { sessions, kv, clock, world, asked } = parts
    const other = open({ kv, clock, world, asked }).sessions
    const { cookie } = await signedIn(parts)
    clock.at += 60_000
    world.renewed = { token: tokenOf('second', clock.at + 60_000), refreshToken: 'r2' }
    const both = await Promise.all([sessions.read(pairOf(cookie)), other.read(pairOf(cookie))])
    assert.deepEqual(
      both.map((session) => session?.subject),
      [ann, ann],
    )
    assert.deepEqual(asked, ['r1'])
  })

  it('has the rights of the new token, and ends if those are none', async () => {
    const parts = open()
    const { sessions, clock, world, ended } = parts
    const { id, cookie } = await signedIn(parts)
    clock.at += 60_000
    world.renewed = { token: tokenOf('second', clock.at + 60_000) }
    world.scopes = []
    assert.equal(await sessions.read(pairOf(cookie)), undefined)
    assert.deepEqual(ended, [id])
  })

  it('ends if the issuer refuses, and waits if it does not answer', async () => {
    const parts = open()
    const { sessions, clock, world, asked, ended } = parts
    const { id, cookie } = await signedIn(parts)
    clock.at += 60_000
    world.renewed = new A2AError('UNAVAILABLE', 'away')
    await assert.rejects(sessions.read(pairOf(cookie)), { code: 'UNAVAILABLE' })
    await assert.rejects(sessions.read(pairOf(cookie)), { code: 'UNAVAILABLE' })
    assert.deepEqual(asked, ['r1', 'r1'])
    world.renewed = undefined
    assert.equal(await sessions.read(pairOf(cookie)), undefined)
    assert.deepEqual(ended, [id])
  })

  it('that is ended while it is renewed stays ended', async () => {
    const parts = open()
    const { sessions, clock, world } = parts
    const { id, cookie } = await signedIn(parts)
    clock.at += 60_000
    world.renewed = { token: tokenOf('second', clock.at + 60_000) }
    const reading = sessions.read(pairOf(cookie))
    await sessions.end(id)
    assert.equal(await reading, undefined)
    assert.deepEqual(await sessions.list({ limit: 10 }), [])
  })

  it('is over after twelve hours, however often it was renewed', async () => {
    const parts = open()
    const { sessions, clock, world } = parts
    const { cookie } = await signedIn(parts)
    clock.at += 12 * 3_600_000
    world.renewed = { token: tokenOf('second', clock.at + 60_000) }
    assert.equal(await sessions.read(pairOf(cookie)), undefined)
  })
})
