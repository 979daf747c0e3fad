import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { generateKey } from '../../auth/key-format.ts'
import { createRedactor, collectSecrets } from './redactor.ts'

describe('a log without secrets', () => {
  const { text, isSecret } = createRedactor(['correct horse battery staple', 'short'])

  it('has nothing that the configuration calls a secret, wherever it turns up [B-170]', () => {
    assert.equal(text('refused: correct horse battery staple!'), 'refused: [redacted]!')
    // A short secret may be part of any word.
    assert.equal(text('in short'), 'in short')
  })

  it('has no single line of a secret that has several', () => {
    const { text: shown } = createRedactor(['-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\n  hkiG9w0BAQEFAASC\nok\n'])
    assert.equal(shown('MIIEvQIBADANBgkq'), '[redacted]')
    assert.equal(shown('bad key: MIIEvQIBADANBgkq hkiG9w0BAQEFAASC ok'), 'bad key: [redacted] [redacted] ok')
  })

  it('has nothing that looks like a credential, and says what it was [B-170]', () => {
    const { key } = generateKey()
    const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl'
    assert.equal(text('Authorization: Bearer abcdefgh12345678'), 'Authorization: Bearer [redacted]')
    assert.equal(text('basic dXNlcjpwYXNzd29yZA=='), 'basic [redacted]')
    assert.match(text(`key ${key} was used`), /^key pk_\w{12}_\[redacted\] was used$/)
    assert.equal(text(`token ${jwt} expired`), 'token [redacted] expired')
    assert.equal(text('sk-proj_0123456789abcdefghij'), 'sk-[redacted]')
    assert.equal(text('postgres://parley:hunter2@db/parley'), 'postgres://parley:[redacted]@db/parley')
    assert.equal(text('GET https://x.test/a?api_key=hunter22&b=1'), 'GET https://x.test/a?api_key=[redacted]&b=1')
  })

  it('leaves alone what is none', () => {
    for (const plain of [
      'task 01890000-0000-7000-8000-000000000000',
      'http://127.0.0.1:3000/a2a',
      'Basic skills',
      'a@b.test',
    ])
      assert.equal(text(plain), plain)
  })

  it('knows fields by their names', () => {
    for (const name of ['token', 'apiKey', 'api_key', 'Authorization', 'clientSecret', 'set-cookie', 'privateKey'])
      assert.ok(isSecret(name), name)
    for (const name of ['taskId', 'tokens', 'key', 'keyId', 'agent', 'outputTokens']) assert.ok(!isSecret(name), name)
  })
})

describe('the secrets of a configuration', () => {
  it('are what is called one, headers and environments, and what came out of the environment', () => {
    const tree = {
      publicUrl: 'https://hub.test',
      admin: { key: 'admin-key-1234' },
      agents: {
        gpt: { kind: 'openai', apiKey: 'from-a-file', headers: { 'x-team': 'team-secret' }, model: 'm' },
        bot: { kind: 'openclaw', url: 'ws://from-env' },
      },
    }
    const found = collectSecrets(tree, (path) => path.join('.') === 'agents.bot.url')
    assert.deepEqual(found, ['admin-key-1234', 'from-a-file', 'team-secret', 'ws://from-env'])
  })
})
