/** Checks of `card get`: where a card comes from, what is shown of it, and whether it can be trusted. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTestCardSigner } from '../../outside-fixtures.ts'
import { wellKnownPath } from '../../fixture/fixture-agent.ts'
import type { Checks, JsonError } from '../workbench.ts'

interface CardJson {
  readonly name: string
  readonly description: string
  readonly supportedInterfaces: readonly { readonly url: string; readonly protocolBinding: string }[]
}

export const cardChecks: Checks = {
  async A2ACLI_CARD_GET_001({ a2a, agent, folder }) {
    const { url, server, sent } = await agent()
    const shown = await a2a(['card', 'get', '-a', url], {
      shows: 'appends the well-known path to an origin and shows identity, capabilities, interfaces and skills',
    })
    assert.equal(server.requests.at(-1)?.path, wellKnownPath)
    for (const word of ['Fixture agent', 'JSONRPC', 'HTTP+JSON', 'Streaming', 'Push', 'Extended', 'show'])
      assert.match(shown.stdout, new RegExp(word.replace('+', '\\+'), 'i'))
    shown.fields()
    const host = await a2a(['card', 'get', '-a', url.replace('http://', ''), '-o', 'json'], {
      shows: 'accepts a host without a scheme and prints the AgentCard',
    })
    const card = host.json<CardJson>()
    assert.equal(card.name, 'Fixture agent')
    const direct = await a2a(['card', 'get', '-a', `${url}${wellKnownPath}`, '-o', 'json'], {
      shows: 'uses a URL with a path as it is',
    })
    assert.deepEqual(direct.json(), card)
    await writeFile(join(folder, 'card.json'), direct.stdout)
    const path = await a2a(['card', 'get', '-a', './card.json', '-o', 'json'], { shows: 'reads a path' })
    const file = await a2a(['card', 'get', '-a', `file://${join(folder, 'card.json')}`, '-o', 'json'], {
      shows: 'reads a file URL',
    })
    assert.deepEqual([path.json(), file.json()], [card, card])
    await a2a(['send', '-a', './card.json', 'complete'], { shows: 'sends to the interface of a card from a file' })
    assert.equal(sent('SendStreamingMessage').length + sent('SendMessage').length, 1)
  },

  async A2ACLI_CARD_GET_002({ a2a, agent }) {
    const right = await agent()
    await a2a(['card', 'get', '-a', right.url, '--validate'], { shows: 'accepts a valid card' })
    const wrong = await agent({
      card: ({ name: _name, skills: _skills, ...card }) => ({ ...card, version: 7 }),
    })
    const run = await a2a(['card', 'get', '-a', wrong.url, '--validate', '-o', 'json'], {
      exit: 1,
      shows: 'reports every violation of an invalid card as A2ACLI_ERR_CARD_INVALID',
    })
    const { error } = run.json<JsonError>()
    assert.equal(error.code, 'A2ACLI_ERR_CARD_INVALID')
    for (const field of ['name', 'skills', 'version']) assert.match(run.stdout + run.stderr, new RegExp(field))
  },

  async A2ACLI_CARD_GET_003({ a2a, agent }) {
    const bearer = { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } }
    const { url, server } = await agent({
      settings: {
        authenticate: ({ header }) => (header('authorization') === 'Bearer s3cret-token' ? { id: 'me' } : { id: '' }),
        securitySchemes: bearer,
        securityRequirements: [{ schemes: { bearer: { list: [] } } }],
        extendedCard: { description: 'More for known callers' },
      },
    })
    const run = await a2a(['card', 'get', '-a', url, '--extended', '-o', 'json'], {
      env: { A2ACLI_BEARER: 's3cret-token' },
      shows: 'fetches the extended card with the scheme of the public card',
    })
    assert.equal(run.json<CardJson>().description, 'More for known callers')
    const withToken = server.requests.filter(({ headers }) => headers['authorization'] !== undefined)
    assert.ok(withToken.length > 0 && withToken.every(({ path }) => path !== wellKnownPath))
    const plain = await agent()
    const refused = await a2a(['card', 'get', '-a', plain.url, '--extended', '-o', 'json'], {
      exit: 1,
      shows: 'fails before a call where the card offers no extended card',
    })
    assert.equal(refused.json<JsonError>().error.code, 'UnsupportedOperationError')
    assert.deepEqual(
      plain.server.requests.map(({ path }) => path),
      [wellKnownPath],
    )
  },

  async A2ACLI_CARD_GET_004({ a2a, agent, folder }) {
    const signer = await createTestCardSigner()
    const trusted = join(folder, 'keys.json')
    await writeFile(trusted, JSON.stringify({ keys: [signer.jwk] }))
    const absent = await agent()
    const none = await a2a(['card', 'get', '-a', absent.url], {
      shows: 'reports that the card has no signature, and succeeds',
    })
    assert.match(none.stdout + none.stderr, /signature.*(absent|none|not signed)/i)
    const signed = await agent({ card: (card) => signer.signed(card) })
    const verified = await a2a(['card', 'get', '-a', signed.url, '--trusted-keys', trusted], {
      shows: 'reports a signature by a trusted key as verified',
    })
    assert.match(verified.stdout + verified.stderr, /signature.*: verified/i)
    const unknown = await a2a(['card', 'get', '-a', signed.url], {
      shows: 'reports a signature whose key it does not know as unverifiable',
    })
    assert.match(unknown.stdout + unknown.stderr, /unverifiable/i)
    assert.doesNotMatch(unknown.stdout + unknown.stderr, /: verified/i)
    const json = await a2a(['card', 'get', '-a', signed.url, '-o', 'json', '--trusted-keys', trusted], {
      shows: 'leaves the JSON card untouched and reports the outcome on stderr',
    })
    assert.match(json.stderr, /verified/i)
    assert.ok('signatures' in json.json())
    const forged = await agent({
      card: async (card) => ({ ...(await signer.signed(card)), description: 'Changed later' }),
    })
    const wrong = await a2a(['card', 'get', '-a', forged.url, '--trusted-keys', trusted], {
      exit: 1,
      shows: 'never presents a changed card as verified',
    })
    assert.doesNotMatch(wrong.stdout + wrong.stderr, /: verified/i)
  },

  async A2ACLI_CARD_GET_005({ a2a, agent, folder }) {
    const { url, sent } = await agent()
    const entries = [
      { name: 'baker', url: 'http://127.0.0.1:9' },
      { name: 'fixture', url },
    ]
    await writeFile(join(folder, 'catalog.json'), JSON.stringify({ agents: entries }))
    await a2a(['send', '--catalog', 'catalog.json', '-a', 'fixture', 'complete'], {
      shows: 'resolves the entry of a catalog to its card before it sends',
    })
    assert.equal(sent('SendStreamingMessage').length + sent('SendMessage').length, 1)
    await a2a(['card', 'get', '--catalog', 'catalog.json', '-a', url], { shows: 'still accepts another reference' })
    const missing = await a2a(['card', 'get', '--catalog', 'missing.json', '-a', 'fixture', '-o', 'json'], {
      exit: 3,
      shows: 'reports a catalog that it cannot read as A2ACLI_ERR_CARD_NOT_FOUND',
    })
    assert.equal(missing.json<JsonError>().error.code, 'A2ACLI_ERR_CARD_NOT_FOUND')
  },
}
