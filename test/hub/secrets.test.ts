/** Credentials and messages of callers are in no log, audit entry, stored record or error. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import {
  adminKey,
  bothIssuers,
  openAccessServer,
  type AuthHeaders,
  messageParams,
  bindingVersions,
} from './access-server.ts'

describe('a secret', () => {
  it('appears in no log, audit entry, stored record or error, for any caller and any failure [B-170 T-12]', async () => {
    const accessServer = await openAccessServer({
      agents: {
        team: { agent: ({ text }) => `thanks for ${text.length} letters` },
        broken: {
          agent: () => {
            throw new Error('the agent broke')
          },
        },
      },
      access: { jwt: bothIssuers },
    })
    const { admin, peer, one, store, access } = accessServer
    const { json: made } = await admin('POST', '/admin/keys', {
      name: 'x',
      agents: ['team', 'broken'],
      tasksPerDay: 1_000,
    })
    const { json: narrow } = await admin('POST', '/admin/keys', { name: 'y', scopes: ['agent:team', 'operation:read'] })
    const { json: gone } = await admin('POST', '/admin/keys', { name: 'z', agents: ['team'] })
    await admin('DELETE', `/admin/keys/${gone.id}`)
    const token = await one.token({ groups: ['team'] })
    const past = await one.token({ exp: 1_000 })
    const foreign = await one.token({ aud: 'other', secretClaim: 'claimed-secret' })
    const content = 'hunter2-is-the-word'
    const wrong = 'pk_000000000000_wrong0wrong0wrong0wrong0wrong0wrong000'
    const shown = [
      made.key,
      narrow.key,
      gone.key,
      token,
      past,
      foreign,
      wrong,
      'not-the-admin-key',
      'a.b.c',
      'basic-secret',
    ]
    const proofs: readonly AuthHeaders[] = [
      ...shown.map((secret) => ({ authorization: `Bearer ${secret}` })),
      ...shown.map((secret) => ({ 'x-api-key': secret })),
      { authorization: `Basic ${btoa('u:basic-secret')}`, cookie: 'session=cookie-secret' },
    ]
    const refusals: string[] = []
    const keep = (answer: unknown): void => void refusals.push(inspect(answer, { depth: 20 }))
    for (const headers of proofs) {
      for (const way of bindingVersions.filter(({ version }) => version === '1.0')) {
        for (const agent of ['team', 'broken', 'nowhere']) {
          const request = messageParams(content, { metadata: { password: content } })
          const answer = await peer(agent, way).call('SendMessage', request, { headers })
          // A caller sees its own text again, and no other does.
          if (answer.status !== 200 || answer.body?.error !== undefined) keep([answer.body, [...answer.headers]])
          const looked = await peer(agent, way).call(
            'GetTask',
            { id: `${content} ${headers.authorization}` },
            { headers },
          )
          if (way.binding !== 'HTTP+JSON') continue
          assert.notEqual(looked.status, 200)
        }
      }
      keep((await admin('GET', '/admin/keys', undefined, headers)).json)
      keep((await admin('POST', '/a2a/nowhere/api-key/generate', { name: 'x' }, headers)).json)
    }
    await access.close()
    const audit = await access.audit.list({ limit: 10_000 })
    assert.ok(audit.entries.length > proofs.length * 3)
    const kinds = ['key', 'key-of', 'key-use', 'admin', 'audit', 'quota']
    const entries = await Promise.all(kinds.map((kind) => store.kv.list(kind, { limit: 10_000 })))
    const places = {
      'the log': inspect(accessServer.logged, { depth: 20 }),
      'the audit': JSON.stringify(audit),
      'the key-value store': JSON.stringify(entries),
      'a refusal': refusals.join('\n'),
      'what the admin is shown': JSON.stringify((await admin('GET', '/admin/keys')).json),
    }
    const secrets = [adminKey, content, 'claimed-secret', 'cookie-secret', ...shown.filter((one) => one.length > 6)]
    for (const [place, text] of Object.entries(places)) {
      for (const secret of secrets) {
        // The displayed prefix of a key is not secret; of a token not even the signature may appear.
        const hidden = secret.startsWith('pk_') ? (secret.split('_')[2] as string) : (secret.split('.')[2] ?? secret)
        assert.ok(!text.includes(hidden), `${place} has ${secret.slice(0, 12)}…`)
      }
    }
    assert.match(places['the log'], /the agent broke/, 'the log was not looked at')
  })
})
