import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentKinds } from '../../agents/kinds.ts'
import { loadConfig } from '../load-config.ts'
import { printConfig } from '../print-config.ts'
import { fillHubReferences, hubReferencesIn } from './hub-references.ts'

function load(text: string) {
  return loadConfig({ file: '/tmp/parley.yaml', text, fallback: {}, environment: {}, cwd: '/tmp', kinds: agentKinds })
}

describe('a reference to a secret of the hub', () => {
  it('stays in the configuration, is printed as written, and is no value to hide', () => {
    const loaded = load(
      'agents: { gpt: { kind: openai, baseUrl: "http://a/v1", model: m, apiKey: "${hub:gpt-token}" } }',
    )
    assert.ok('config' in loaded, JSON.stringify(loaded))
    assert.deepEqual(hubReferencesIn(loaded.config.agents), ['gpt-token'])
    assert.match(printConfig(loaded, agentKinds), /apiKey: \$\{hub:gpt-token\}/)
    assert.deepEqual([...loaded.secretValues], [])
  })

  it('is an error where the hub needs the value before its store, and in settings that are no secrets', () => {
    const loaded = load(
      [
        'store: { url: "${hub:url}", masterKey: "${hub:master}" }',
        'admin: { key: "${hub:admin}" }',
        'secrets: { vault: { command: [vault], env: { TOKEN: "${hub:vault}" } } }',
        'agents: { gpt: { kind: openai, baseUrl: "http://a/v1", model: m, apiKey: "${hub:a b}", description: "${hub:x}" } }',
      ].join('\n'),
    )
    assert.ok('problems' in loaded)
    const before = 'cannot be used here: the hub reads this setting before it opens its store.'
    const found = loaded.problems.map(({ line, path, message }) => [line, path.at(-1), message.split(' Use ')[0]])
    assert.deepEqual(found, [
      [1, 'url', `\${hub:url} ${before}`],
      [1, 'masterKey', `\${hub:master} ${before}`],
      [2, 'key', `\${hub:admin} ${before}`],
      [3, 'TOKEN', `\${hub:vault} ${before}`],
      [4, 'apiKey', '${hub:a b}: the name must have up to 100 letters, digits, dots, dashes and underscores'],
      [4, 'description', "${hub:x} cannot be used here: it is for secrets in the settings of the agent's kind"],
    ])
    const provider = load('secrets: { hub: { command: [vault] } }\nagents: { e: { kind: demo, agent: echo } }')
    assert.match(JSON.stringify(provider), /secrets.*hub.*is built in: choose another name/)
  })

  it('is replaced by its value anywhere in a setting, and stays without one', () => {
    const entry = { headers: { A: 'Bearer ${hub:one}' }, args: ['${hub:one}:${hub:two}', 1], other: '${env:one}' }
    assert.deepEqual(fillHubReferences(entry, new Map([['one', '$&']])), {
      headers: { A: 'Bearer $&' },
      args: ['$&:${hub:two}', 1],
      other: '${env:one}',
    })
    assert.deepEqual(hubReferencesIn(entry), ['one', 'two'])
    const plain = { url: new URL('http://a') }
    assert.equal(fillHubReferences(plain, new Map()), plain)
  })
})
