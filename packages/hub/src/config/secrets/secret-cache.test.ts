import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileSource } from '../config-source.ts'
import { agentKinds } from '../../agents/kinds.ts'
import { loadWithSecrets } from './load-with-secrets.ts'
import { createSecretCache } from './secret-cache.ts'
import type { SecretReference } from './secret-provider.ts'

const env = { PATH: process.env['PATH'] ?? '' }

function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-secrets-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const cache = createSecretCache({ baseDir: folder, env })
  t.after(cache.close)
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  const load = (text: string) =>
    loadWithSecrets({ text, fallback: {}, environment: {}, cwd: folder, kinds: agentKinds }, cache)
  return { folder, cache, write, load }
}

const config = (model: string, provider = 'command: [cat, "{name}"]'): string => `
secrets: { vault: { ${provider} } }
agents:
  gpt: { kind: openai, baseUrl: "https://api.example.com/v1", model: m, apiKey: "${model}" }
`

describe('the secrets of providers', () => {
  it('are read into the configuration, also within a longer text', async (t) => {
    const { write, load } = open(t)
    write('key', 'sk-value\n')
    const loaded = await load(config('prefix-${vault:key}'))
    assert.ok('config' in loaded, JSON.stringify(loaded))
    assert.ok(JSON.stringify(loaded.config.agents['gpt']?.own).includes('"apiKey":"prefix-sk-value"'))
    assert.deepEqual([...loaded.secretValues], ['sk-value'])
    assert.equal(loaded.references.get('agents.gpt.apiKey'), 'prefix-${vault:key}')
  })

  it('come from a module, too', async (t) => {
    const { write, load } = open(t)
    write('own.mjs', 'export default { read: async (name) => `value of ${name}` }')
    const loaded = await load(config('${vault:x}', 'module: ./own.mjs'))
    assert.ok('config' in loaded && [...loaded.secretValues][0] === 'value of x')
    write('wrong.mjs', 'export default 5')
    const wrong = await load(config('${vault:x}', 'module: ./wrong.mjs'))
    assert.ok('problems' in wrong)
    assert.match(wrong.problems[0]?.message ?? '', /wrong\.mjs must export a provider/)
  })

  it('that cannot be read are problems with their line; a misspelled provider is one, text of a shell is not', async (t) => {
    const { load } = open(t)
    const loaded = await load(config('${vault:none}'))
    assert.ok('problems' in loaded)
    assert.deepEqual(
      loaded.problems.map(({ path, line }) => [path.join('.'), line]),
      [['agents.gpt.apiKey', 4]],
    )
    assert.match(loaded.problems[0]?.message ?? '', /^\$\{vault:none\} cannot be read: cat failed with 1: /)
    const misspelled = await load(config('${vualt:none}'))
    assert.ok('problems' in misspelled)
    assert.match(misspelled.problems[0]?.message ?? '', /unknown provider vualt: did you mean vault\?/)
    const shell = await load(config('${name:-default}', 'command: [cat]'))
    assert.ok('config' in shell)
  })

  it('never appear in a problem', async (t) => {
    const { write, load } = open(t)
    write('key', 'a-secret-value')
    const text = `${config('${vault:key}')}access: { anonymous: ["\${vault:key}", "\${file:key}"] }\n`
    const loaded = await load(text)
    assert.ok('problems' in loaded)
    assert.ok(!JSON.stringify(loaded.problems).includes('a-secret-value'), JSON.stringify(loaded.problems))
    assert.match(loaded.problems[0]?.message ?? '', /unknown agent \(not shown\)/)
  })

  it('are read again: a change is reported, and after a failure the last value stays', async (t) => {
    const { folder, cache, write } = open(t)
    write('key', 'first')
    const provider = { command: ['cat', '{name}'], env: {}, refresh: 0, timeout: 10_000 }
    const reference: SecretReference = { scheme: 'vault', name: 'key', provider }
    assert.deepEqual((await cache.read([reference]))(reference), { value: 'first' })
    const told: string[] = []
    cache.follow([reference], {
      changed: () => void told.push('changed'),
      failed: ({ scheme, name }) => void told.push(`${scheme}:${name} failed`),
    })
    await cache.refresh()
    assert.deepEqual(told, [])
    write('key', 'second')
    await cache.refresh()
    assert.deepEqual([told, cache.known(reference)], [['changed'], { value: 'second' }])
    rmSync(join(folder, 'key'))
    await cache.refresh()
    assert.deepEqual([told, cache.known(reference)], [['changed', 'vault:key failed'], { value: 'second' }])
  })

  it('are stale if a module neither answers nor follows the signal', { timeout: 120_000 }, async (t) => {
    const { cache, write } = open(t)
    write(
      'own.mjs',
      'let reads = 0\nexport default { read: async () => (reads++ === 0 ? "first" : new Promise(() => {})) }',
    )
    const provider = { module: './own.mjs', env: {}, refresh: 0, timeout: 50 }
    const reference: SecretReference = { scheme: 'own', name: 'key', provider }
    await cache.read([reference])
    const problems: string[] = []
    cache.follow([reference], { changed() {}, failed: (_, problem) => void problems.push(problem) })
    await cache.refresh()
    assert.deepEqual(problems, ['${own:key} cannot be read: it was not read within 50 ms'])
    assert.deepEqual([cache.status(), cache.known(reference)], [[{ provider: 'own', stale: 1 }], { value: 'first' }])
  })

  it('are stale from a failed read to the next one that succeeds', async (t) => {
    const { folder, cache, write } = open(t)
    for (const name of ['key', 'other']) write(name, 'value')
    const provider = { command: ['cat', '{name}'], env: {}, refresh: 0, timeout: 10_000 }
    const reference = (name: string): SecretReference => ({ scheme: 'vault', name, provider })
    // The second reference to a secret is not a second secret.
    const all = [reference('key'), reference('other'), reference('key')]
    const listener = { changed() {}, failed() {} }
    const stale = (): readonly number[] => cache.status().map((status) => status.stale)
    await cache.read(all)
    assert.deepEqual(cache.status(), [])
    cache.follow(all, listener)
    assert.deepEqual(cache.status(), [{ provider: 'vault', stale: 0 }])
    for (const name of ['key', 'other']) rmSync(join(folder, name))
    await cache.refresh()
    assert.deepEqual(stale(), [2])
    write('other', 'value')
    await cache.refresh()
    assert.deepEqual(stale(), [1])
    // The other one is removed from the configuration.
    cache.follow([reference('other')], listener)
    assert.deepEqual(stale(), [0])
    cache.follow([], listener)
    assert.deepEqual(cache.status(), [])
  })

  it('of a new program are not read by a check: only applying a configuration starts it', async (t) => {
    const { folder, cache, write } = open(t)
    write('parley.yaml', 'agents: { x: { kind: demo, agent: echo } }\n')
    const source = fileSource(
      { file: join(folder, 'parley.yaml'), fallback: {}, environment: {}, cwd: folder, kinds: agentKinds },
      cache,
    )
    const text = config('${vault:key}', 'command: [sh, -c, "echo ran > ran; echo value"]')
    assert.ok('config' in (await source.check(text)))
    assert.throws(() => rmSync(join(folder, 'ran')))
    assert.ok('config' in (await source.load(text)))
    rmSync(join(folder, 'ran'))
  })
})
