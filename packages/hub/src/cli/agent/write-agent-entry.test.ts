import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { parse } from 'yaml'
import { agentKinds } from '../../agents/kinds.ts'
import { fileSource, type ConfigSource } from '../../config/config-source.ts'
import { demoConfig } from '../../demo/index.ts'
import { addAgentEntry, removeAgentEntry } from './write-agent-entry.ts'

const entry = { kind: 'a2a', url: 'https://partner.example.com' }
const add = (source: ConfigSource, name = 'partner'): Promise<string> => addAgentEntry(source, entry, () => name)

function open(t: TestContext, text?: string, name = 'parley.yaml'): ConfigSource {
  const cwd = mkdtempSync(join(tmpdir(), 'parley-add-'))
  t.after(() => rmSync(cwd, { recursive: true }))
  if (text !== undefined) writeFileSync(join(cwd, name), text)
  return fileSource({ fallback: demoConfig, environment: {}, cwd, kinds: agentKinds })
}

describe('an agent that is added to a configuration', () => {
  it('is refused in one sentence if there is a folder instead of the file', async (t) => {
    const source = open(t)
    mkdirSync(source.file)
    const message = `${source.file} cannot be read: it is a folder: a file is needed there.`
    await assert.rejects(add(source), { name: 'CliError', message })
  })

  it('leaves everything else as it was, comments and layout too', async (t) => {
    const before = `# our hub
listen: { port: 8080 } # behind nginx

agents:
  # the first
  greeter: { kind: module, path: ./greeter.ts } # default

retention: { finished: 30d }
`
    const source = open(t, before)
    await add(source)
    const after = source.read()
    const line = '  partner: { kind: a2a, url: https://partner.example.com }\n'
    assert.equal(after.replace(line, ''), before)
    assert.ok(after.indexOf('greeter:') < after.indexOf(line) && after.indexOf(line) < after.indexOf('retention:'))
  })

  it('creates a section that does not exist', async (t) => {
    for (const before of ['', '# nothing yet\n', 'listen: { port: 1 }\n', 'agents:\n']) {
      const source = open(t, before)
      await add(source)
      assert.deepEqual((parse(source.read()) as { agents: unknown }).agents, { partner: entry })
    }
  })

  it('creates a file with the agents that the hub serves without one', async (t) => {
    const source = open(t)
    await add(source)
    const { agents } = parse(readFileSync(source.file, 'utf8')) as { agents: object }
    assert.deepEqual(agents, { ...demoConfig.agents, partner: entry })
  })

  it('does not take the place of another, nor touch what it does not understand', async (t) => {
    await assert.rejects(add(open(t, 'agents: { partner: { kind: x } }')), /The agent partner already exists/)
    await assert.rejects(add(open(t, 'agents: [')), /not valid YAML/)
    await assert.rejects(add(open(t, '[]')), /not a mapping/)
    await assert.rejects(add(open(t, 'agents: 3')), /agents.* must be a mapping/)
  })

  it('stays JSON in a file of JSON', async (t) => {
    const source = open(t, '{ "agents": { "a": { "kind": "demo", "agent": "echo" } } }', 'parley.json')
    await add(source)
    const tree = JSON.parse(readFileSync(source.file, 'utf8')) as { agents: object }
    assert.deepEqual(Object.keys(tree.agents), ['a', 'partner'])
    await assert.rejects(add(source, 'a'), /The agent a already exists/)
  })

  it('is added although the file needs a variable that only the hub has', async (t) => {
    const source = open(t, 'admin: { key: "${env:KEY_OF_THE_HUB}" }\nagents: { a: { kind: demo, agent: echo } }\n')
    await add(source)
    assert.match(source.read(), /partner:/)
  })

  it('is added to the text of another writer that came first, under a name that is free there', async (t) => {
    const source = open(t, 'agents: { a: { kind: demo, agent: echo } }\n')
    const name = await addAgentEntry(source, entry, (names) => {
      if (names.length === 1)
        writeFileSync(source.file, 'agents: { a: { kind: demo, agent: echo }, b: { kind: demo, agent: echo } }\n')
      return names.includes('b') ? 'c' : 'b'
    })
    assert.equal(name, 'c')
    assert.deepEqual(Object.keys((parse(source.read()) as { agents: object }).agents), ['a', 'b', 'c'])
  })

  it('reports a file that cannot be written in one sentence', async (t) => {
    const { file } = open(t, 'no folder')
    const source = fileSource({
      file: join(file, 'parley.yaml'),
      fallback: demoConfig,
      environment: {},
      cwd: '.',
      kinds: agentKinds,
    })
    await assert.rejects(add(source), /parley\.yaml cannot be written \(ENOTDIR\): the file and its folder must exist/)
  })
})

describe('an agent that is removed from a configuration', () => {
  it('may be one of those that the hub serves without a file', async (t) => {
    const source = open(t)
    await removeAgentEntry(source, 'clock')
    const { agents } = parse(readFileSync(source.file, 'utf8')) as { agents: object }
    assert.deepEqual(
      Object.keys(agents),
      Object.keys(demoConfig.agents).filter((name) => name !== 'clock'),
    )
  })

  it('stays if the file would be invalid without it', async (t) => {
    const source = open(t, 'agents: { a: { kind: demo, agent: echo } }\n')
    await assert.rejects(removeAgentEntry(source, 'b'), /has no agent b: it has a|did you mean a/)
    await assert.rejects(removeAgentEntry(source, 'a'), /agents: must contain at least one agent/)
    assert.match(source.read(), /a: \{ kind: demo/)
  })
})
