/** The configuration, changed by the admin API: secrets are neither shown nor lost, and earlier versions can be restored. */
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { asAdmin, openTestHub, type TestHub } from './test-hub.ts'

const text = `# The hub of a test.
listen: { port: 0, grpcPort: false }
admin:
  key: the admin key of a test # not public
agents:
  # Repeats the message.
  echo: { kind: demo, agent: echo, default: true }
  gpt:
    kind: openai
    baseUrl: https://api.example.com/v1
    model: some-model
    apiKey: sk-a-secret-of-ours
  other: { kind: openai, baseUrl: "https://api.example.com/v1", model: some-model, apiKey: "\${env:API_KEY}" }
`

const open = (): Promise<TestHub> => openTestHub({ text, environment: { API_KEY: 'sk-of-the-environment' } })
const secrets = /sk-a-secret|sk-of-the-environment|the admin key of a test/

describe('the configuration', () => {
  it('is returned as written, with comments and references, and without its secrets', async () => {
    const stage = await open()
    const { json } = await stage.ask('GET', '/admin/config')
    assert.equal(json.file, stage.file)
    assert.equal(
      json.text,
      text.replace('sk-a-secret-of-ours', '"(not shown)"').replace('the admin key of a test #', '"(not shown)" #'),
    )
    const agent = await stage.ask('GET', '/admin/agents/gpt')
    assert.doesNotMatch(JSON.stringify(agent.json), secrets)
    assert.equal(agent.json.entry.apiKey, '(not shown)')
  })

  it('keeps the hidden secrets when it is applied, and everything else as sent', async () => {
    const stage = await open()
    const { text: shown, hash } = (await stage.ask('GET', '/admin/config')).json
    const edit = (from: string): string =>
      from
        .replace('# Repeats the message.', '# Says it again.')
        .replace('model: some-model\n', 'model: a-better-model\n')
    const { status, json } = await stage.ask('PUT', '/admin/config', { text: edit(shown), base: hash, note: 'better' })
    assert.equal(status, 200, JSON.stringify(json))
    assert.deepEqual(json.effects, { added: [], changed: ['gpt'], removed: [], applied: [], restart: [] })
    assert.equal(readFileSync(stage.file, 'utf8'), edit(text))
    assert.equal((await stage.ask('GET', '/admin/config')).json.hash, json.hash)
  })

  it('previews a change, in lines and in effects', async () => {
    const stage = await open()
    const { text: shown } = (await stage.ask('GET', '/admin/config')).json
    const edited = `${shown.replace(/ {2}other: .*\n/, '').replace('port: 0', 'port: 1')}limits: { perKey: 5/s }\n`
    const { json } = await stage.ask('POST', '/admin/config/diff', { text: edited })
    assert.deepEqual(json.effects, {
      added: [],
      changed: [],
      removed: ['other'],
      applied: ['limits'],
      restart: ['listen'],
    })
    const changed = json.diff.filter(({ change }: any) => change !== 'same')
    assert.deepEqual(
      changed.map(({ change, text: line, before, after }: any) => [change, line.slice(0, 18), before ?? after]),
      [
        ['removed', 'listen: { port: 0,', 2],
        ['added', 'listen: { port: 1,', 2],
        ['removed', '  other: { kind: o', 13],
        ['added', 'limits: { perKey: ', 13],
      ],
    )
    assert.equal(readFileSync(stage.file, 'utf8'), text)
    assert.equal((await stage.ask('GET', '/admin/agents/other')).status, 200)
  })

  it('is rejected as a whole, with all errors', async () => {
    const stage = await open()
    const { text: shown } = (await stage.ask('GET', '/admin/config')).json
    const edited = `${shown.replace('agent: echo', 'agent: unknown')}colour: red\n`
    const { json } = await stage.ask('POST', '/admin/config/check', { text: edited })
    assert.deepEqual(
      json.problems.map(({ path, line }: any) => [path, line]),
      [
        ['agents.echo.agent', 7],
        ['colour', 14],
      ],
    )
    const refused = await stage.ask('PUT', '/admin/config', { text: edited })
    assert.deepEqual([refused.status, refused.json.error.violations.length], [400, 2])
    assert.equal(readFileSync(stage.file, 'utf8'), text)
    assert.deepEqual((await stage.ask('POST', '/admin/config/check', { text: shown })).json, { problems: [] })
  })

  it('does not accept a placeholder for a secret at another path', async () => {
    const stage = await open()
    const { text: shown } = (await stage.ask('GET', '/admin/config')).json
    for (const edited of [
      shown.replace('  gpt:', '  gpt5:'),
      shown.replace('"${env:API_KEY}"', '"(not shown)"'),
      `${shown}publicUrl: "https://user:(not shown)@hub.example.com"\n`,
    ]) {
      const { status, json } = await stage.ask('PUT', '/admin/config', { text: edited })
      assert.deepEqual([status, json.error.code], [400, 'INVALID_PARAMS'])
      assert.match(json.error.message, /enter the secret again/)
    }
  })

  it('can be restored, also a version edited by hand, with its secrets', async () => {
    const stage = await open()
    const apply = async (change: (from: string) => string): Promise<any> => {
      const { text: shown } = (await stage.ask('GET', '/admin/config')).json
      return (await stage.ask('PUT', '/admin/config', { text: change(shown) })).json
    }
    await apply((shown) => `${shown}# one\n`)
    writeFileSync(stage.file, `${text}# by hand\n`)
    await apply((shown) => `${shown}# two\n`)
    const { versions } = (await stage.ask('GET', '/admin/config/versions')).json
    assert.deepEqual(
      versions.map(({ who, isCurrent }: any) => [who ?? 'found', isCurrent]),
      [
        ['admin', true],
        ['found', false],
        ['admin', false],
        ['found', false],
      ],
    )
    const byHand = await stage.ask('GET', `/admin/config/versions/${versions[1].id}`)
    assert.match(byHand.json.text, /# by hand\n$/)
    assert.doesNotMatch(JSON.stringify(byHand.json), secrets)
    assert.deepEqual(
      byHand.json.diff.filter(({ change }: any) => change !== 'same').map(({ change, text }: any) => [change, text]),
      [['removed', '# two']],
    )
    assert.deepEqual(byHand.json.effects, { added: [], changed: [], removed: [], applied: [], restart: [] })
    const { status } = await stage.ask('POST', `/admin/config/versions/${versions[3].id}/restore`, { note: 'back' })
    assert.equal(status, 200)
    assert.equal(readFileSync(stage.file, 'utf8'), text)
    assert.equal((await stage.ask('GET', '/admin/config/versions')).json.versions[0].note, 'back')
    await stage.restart()
    assert.equal((await stage.ask('GET', '/admin/config/versions')).json.versions.length, 5)
  })

  it('is not overwritten by a change that is based on an older version', async () => {
    const stage = await open()
    const { text: shown, hash } = (await stage.ask('GET', '/admin/config')).json
    const put = (more: string) => stage.ask('PUT', '/admin/config', { text: shown + more, base: hash })
    const answers = await Promise.all([put('# mine\n'), put('# yours\n')])
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 409]))
    assert.match(readFileSync(stage.file, 'utf8'), /# (mine|yours)\n$/)
  })

  it('keeps the permissions of its file', async () => {
    const stage = await open()
    const { text: shown } = (await stage.ask('GET', '/admin/config')).json
    const before = statSync(stage.file).mode
    await stage.ask('PUT', '/admin/config', { text: `${shown}# more\n` })
    assert.equal(statSync(stage.file).mode, before)
  })

  it('is recorded in the audit log, with the actor', async () => {
    const stage = await open()
    const { text: shown } = (await stage.ask('GET', '/admin/config')).json
    await stage.ask('PUT', '/admin/config', { text: `${shown}# more\n` })
    const { json } = await stage.ask('GET', '/admin/audit?event=config.applied')
    assert.deepEqual(
      json.entries.map(({ who, operation }: any) => [who, operation]),
      [['admin', 'PUT /admin/config']],
    )
  })
})

describe('an agent in the configuration', () => {
  it('is added, changed and removed, and the rest of the file stays unchanged', async () => {
    const stage = await open()
    const entry = { kind: 'demo', agent: 'clock', description: 'Counts' }
    assert.equal((await stage.ask('POST', '/admin/agents', { name: 'timer', entry })).status, 201)
    assert.equal((await stage.ask('GET', '/admin/agents/timer')).json.description, 'Counts')
    const put = await stage.ask('PUT', '/admin/agents/timer', { entry: { ...entry, description: 'Counts up' } })
    assert.deepEqual(put.json.effects.changed, ['timer'])
    const written = readFileSync(stage.file, 'utf8')
    assert.match(written, /timer: \{ kind: demo, agent: clock, description: Counts up \}/)
    const others = ['# The hub of a test.', '# Repeats the message.', 'apiKey: sk-a-secret-of-ours', '# not public']
    for (const line of others) assert.ok(written.includes(line), line)
    assert.deepEqual((await stage.ask('DELETE', '/admin/agents/timer')).json.effects.removed, ['timer'])
    assert.equal((await stage.ask('GET', '/admin/agents/timer')).status, 404)
    assert.ok(!readFileSync(stage.file, 'utf8').includes('timer'))
  })

  it('keeps its secret when it is changed as shown', async () => {
    const stage = await open()
    const { entry } = (await stage.ask('GET', '/admin/agents/gpt')).json
    const { status } = await stage.ask('PUT', '/admin/agents/gpt', { entry: { ...entry, model: 'another' } })
    assert.equal(status, 200)
    assert.match(readFileSync(stage.file, 'utf8'), /model: another\n {4}apiKey: sk-a-secret-of-ours\n/)
  })

  it('is reviewed as text before it is changed, with problems at their lines', async () => {
    const stage = await open()
    const review = (body: object) => stage.ask('POST', '/admin/agents/gpt/review', body)
    const { text, entry, diff } = (await review({})).json
    assert.match(text, /^kind: openai\n[^]*apiKey: "\(not shown\)"/)
    assert.ok(diff.every(({ change }: { change: string }) => change === 'same'))
    const wrong = (await review({ text: `# why\n${text}retries: many\n` })).json
    const line = wrong.text.split('\n').indexOf('retries: many') + 1
    assert.deepEqual(wrong.problems, [{ path: 'retries', line, message: wrong.problems[0].message }])
    assert.equal(wrong.diff, undefined)
    assert.match((await review({ text: 'kind: [' })).json.problems[0].message, /invalid YAML/)
    // Values replace those of the text; its comments stay.
    const merged = (await review({ text: `# why\n${text}`, entry: { ...entry, model: '${env:MODEL}x' } })).json
    assert.match(merged.text, /^# why\nkind: openai\n/)
    assert.equal(merged.entry.model, '${env:MODEL}x')
    const edited = text.replace(/model: .*/, 'model: newest # for now')
    assert.deepEqual((await review({ text: edited })).json.effects.changed, ['gpt'])
    assert.equal((await stage.ask('PUT', '/admin/agents/gpt', { text: edited })).status, 200)
    assert.match(readFileSync(stage.file, 'utf8'), /model: newest # for now\n {4}apiKey: sk-a-secret-of-ours\n/)
  })

  it('is refused with an alias that has no anchor, and the error names the field', async () => {
    const stage = await open()
    const { text, entry } = (await stage.ask('POST', '/admin/agents/gpt/review', {})).json
    const aliased = `${text}retries: *A\n`
    const refused = [
      await stage.ask('POST', '/admin/agents/gpt/review', { text: aliased, entry }),
      await stage.ask('PUT', '/admin/agents/gpt', { text: aliased }),
    ]
    for (const { status, json } of refused) {
      assert.deepEqual([status, json.error.violations[0].field], [400, 'text'])
      assert.match(json.error.message, /^text: the entry is not valid YAML: Unresolved alias/)
    }
    const alone = await stage.ask('POST', '/admin/agents/gpt/review', { text: aliased })
    assert.match(alone.json.problems[0].message, /invalid YAML/)
  })
})

describe('a hub that was started without a file', () => {
  it('reports that it cannot be changed, and shows the rest', async () => {
    const { startHub } = await import('../../packages/hub/src/hub.ts')
    const { checkConfig } = await import('../../packages/hub/src/config/check-config.ts')
    const { agentKinds } = await import('../../packages/hub/src/agents/kinds.ts')
    const tree = {
      listen: { port: 0, grpcPort: false },
      store: 'memory:',
      admin: { key: 'the admin key of a test' },
      agents: { echo: { kind: 'demo', agent: 'echo' } },
    }
    const checked = checkConfig(tree, { kinds: agentKinds, baseDir: '.' })
    assert.ok('config' in checked)
    const quiet = { debug() {}, info() {}, warn() {}, error() {} }
    const hub = await startHub(checked.config, { log: quiet })
    const ask = async (method: string, path: string, body?: object): Promise<number> => {
      const headers = { ...asAdmin, 'content-type': 'application/json' }
      return (await fetch(hub.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).status
    }
    assert.equal(await ask('GET', '/admin/config'), 503)
    assert.equal(await ask('PUT', '/admin/config', { text: 'agents: {}' }), 503)
    assert.equal(await ask('GET', '/admin/agents/echo'), 200)
    await hub.close()
  })
})

describe('a configuration that would take long to parse', () => {
  const lines = (count: number, line: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => line(index)).join('\n')
  const routes = [
    ['POST', '/admin/config/check'],
    ['POST', '/admin/config/diff'],
    ['PUT', '/admin/config'],
  ] as const

  it('is rejected before it is parsed, by its bytes, lines, brackets and depth', async () => {
    const stage = await open()
    const tooMuch: readonly (readonly [string, RegExp])[] = [
      [`x: "${'y'.repeat(256_000)}"`, /at most 256000 bytes/],
      [lines(5_001, (index) => `k${index}: 1`), /at most 5000 lines/],
      [`x: [${'1,'.repeat(5_000)}1]`, /at most 5000 commas and brackets/],
      [`x: ${'['.repeat(101)}${']'.repeat(101)}`, /at most 100 brackets in one another/],
    ]
    for (const [method, path] of routes) {
      for (const [sent, why] of tooMuch) {
        const { status, json } = await stage.ask(method, path, { text: sent })
        assert.equal(status, 413, `${path} ${why}`)
        assert.match(json.error.message, why)
      }
      assert.equal((await stage.ask(method, path, { text: 'y'.repeat(700_000) })).status, 413)
    }
    assert.equal(readFileSync(stage.file, 'utf8'), text)
  })

  it('is a client error when aliases or brackets expand to a huge tree', async () => {
    const stage = await open()
    const bomb = `a0: &a0 [x, x, x]\n${lines(20, (index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}, *a${index}]`)}`
    const merges = `a0: &a0 { x: 1 }\n${lines(20, (index) => `a${index + 1}: &a${index + 1} { <<: [*a${index}, *a${index}] }`)}`
    for (const sent of [bomb, merges, `${bomb}\nsecret: (not shown)`]) {
      const { status, json } = await stage.ask('POST', '/admin/config/check', { text: sent })
      assert.equal(status, 200, JSON.stringify(json))
      assert.ok(json.problems.length > 0)
      assert.equal((await stage.ask('PUT', '/admin/config', { text: sent })).status, 400)
    }
  })

  it('still reports the positions of duplicate and unknown keys, up to a thousand', async () => {
    const stage = await open()
    const twice = await stage.ask('POST', '/admin/config/check', { text: `${text}admin:\n  key: again\n` })
    assert.deepEqual(twice.json.problems, [{ path: '', line: 14, message: 'invalid YAML: Map keys must be unique' }])
    const unknown = await stage.ask('POST', '/admin/config/check', {
      text: lines(4_900, (index) => `k${index}: 1`),
    })
    assert.equal(unknown.json.problems.length, 1_000)
    assert.equal(unknown.json.problems.at(-1).path, 'k998')
    assert.equal(unknown.json.problems.at(-1).line, 999)
  })
})
