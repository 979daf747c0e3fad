import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import { agentKinds } from '../agents/kinds.ts'
import { fileSource } from '../config/config-source.ts'
import { openHubSecrets } from '../secrets/hub-secrets.ts'
import { extractSecrets, requireSecrets } from './entry-secrets.ts'

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

describe('a configuration that the API changes', () => {
  it('may refer to a secret that another replica has just set', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-entry-secrets-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const store = memoryStore()
    const open = () =>
      openHubSecrets(
        store,
        { warn() {} },
        () => undefined,
        async () => {},
      )
    const [one, secrets] = [await open(), await open()]
    const files = { file: join(folder, 'parley.yaml'), fallback: {}, environment: {}, cwd: folder, kinds: agentKinds }
    const source = requireSecrets(fileSource(files), { secrets, config: () => ({ agents: {} }) as never })
    const text = 'agents: { gpt: { kind: openai, baseUrl: "http://a/v1", model: m, apiKey: "${hub:gpt}" } }\n'
    const refused = await source?.check(text)
    assert.match(JSON.stringify(refused), /the secret \$\{hub:gpt\} is not set/)
    await one.set('gpt', 'sesame', { who: 'ann' })
    const accepted = await source?.check(text)
    assert.ok(accepted !== undefined && 'config' in accepted, JSON.stringify(accepted))
  })
})
