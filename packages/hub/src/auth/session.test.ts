import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryNotes } from '@parley/a2a'
import type { Signer } from '@parley/a2a/server'
import { hashOf } from './key-format.ts'
import { createSessions, markOf } from './session.ts'

const signer: Signer = {
  sign: async (purpose, text) => `1.${hashOf(`${purpose} ${text}`).slice(0, 43)}`,
  verify: async (purpose, text, signature) => signature === `1.${hashOf(`${purpose} ${text}`).slice(0, 43)}`,
}

function open({ clock = { at: 1_000 }, notes = memoryNotes(() => clock.at), adminMark = 'a' } = {}) {
  const sessions = createSessions({ secrets: async () => signer, notes, adminMark, now: () => clock.at })
  return { sessions, notes, clock }
}
const pairOf = (cookie: string): string => cookie.split(';')[0] ?? ''

describe('sessions', () => {
  it('are over after twelve hours', async () => {
    const { sessions, clock } = open()
    const { cookie } = await sessions.open('admin', false)
    clock.at += 12 * 3_600_000 - 1
    assert.equal((await sessions.read(pairOf(cookie)))?.subject, 'admin')
    clock.at += 1
    assert.equal(await sessions.read(pairOf(cookie)), undefined)
  })

  it('that were ended at one replica are over at another within two seconds', async () => {
    const { sessions, notes, clock } = open()
    const other = open({ notes, clock }).sessions
    const opened = await sessions.open('admin', false)
    assert.ok(await other.read(pairOf(opened.cookie)))
    await sessions.end(opened, false)
    assert.equal(await sessions.read(pairOf(opened.cookie)), undefined)
    clock.at += 2_000
    assert.equal(await other.read(pairOf(opened.cookie)), undefined)
  })

  it('of the admin end with the admin key, and those of others do not', async () => {
    const { sessions, notes, clock } = open()
    const mine = await sessions.open('admin', false)
    const theirs = await sessions.open('https://id.example.com|ann', false)
    const after = open({ notes, clock, adminMark: 'b' }).sessions
    assert.equal(await after.read(pairOf(mine.cookie)), undefined)
    assert.equal((await after.read(pairOf(theirs.cookie)))?.subject, 'https://id.example.com|ann')
    assert.notEqual(markOf(hashOf('one key')), markOf(hashOf('another')))
  })

  it('have two halves that belong together', async () => {
    const { sessions } = open()
    const [one, other] = [await sessions.open('admin', true), await sessions.open('admin', true)]
    assert.equal(await sessions.isMeant(one, one.csrf), true)
    assert.equal(await sessions.isMeant(one, other.csrf), false)
    assert.equal(await sessions.isMeant(one, undefined), false)
    assert.match(one.cookie, /^__Host-parley-session=/)
  })
})
