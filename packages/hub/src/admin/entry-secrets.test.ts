import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentKinds } from '../agents/kinds.ts'
import { extractSecrets } from './entry-secrets.ts'

const context = { agent: 'gpt', kinds: agentKinds, taken: [] }

describe('the secrets of an entry', () => {
  it('are taken out of the text around them, however many it has', () => {
    const tokens = Array.from({ length: 60 }, (_, at) => `token=t${at}`)
    const entry = { kind: 'openai', baseUrl: `http://model.test/v1?${tokens.join('&')}`, model: 'm' }
    const { entry: made, secrets } = extractSecrets(entry, context)
    assert.deepEqual(
      [...secrets.values()],
      tokens.map((token) => token.slice('token='.length)),
    )
    assert.match(
      made.baseUrl,
      /^http:\/\/model\.test\/v1\?token=\$\{hub:gpt-base-url\}&token=\$\{hub:gpt-base-url-2\}&/,
    )
  })

  it('cannot be within an alias', () => {
    const entry = 'kind: openai\nheaders: &same { Authorization: Bearer abcdefghij }\nenv: *same\n'
    assert.throws(() => extractSecrets(entry, context), {
      code: 'INVALID_PARAMS',
      message: /^text: env\.Authorization is/,
    })
  })
})
