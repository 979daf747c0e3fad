import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { writeAgentEntry, insertAgentEntry } from './write-agent-entry.ts'

const entry = { kind: 'a2a', entry: { url: 'https://partner.example.com' } }

describe('an agent that is added to a configuration', () => {
  it('leaves everything else as it was, comments and layout too', () => {
    const before = `# our hub
listen: { port: 8080 } # behind nginx

agents:
  # the first
  greeter: { kind: module, path: ./greeter.ts } # default

retention: { finished: 30d }
`
    const after = insertAgentEntry(before, 'partner', entry)
    const line = '  partner: { kind: a2a, url: https://partner.example.com }\n'
    assert.equal(after.replace(line, ''), before)
    assert.ok(after.indexOf('greeter:') < after.indexOf(line) && after.indexOf(line) < after.indexOf('retention:'))
  })

  it('creates a file, or a section, that does not exist', () => {
    for (const before of ['', '# nothing yet\n', 'listen: { port: 1 }\n', 'agents:\n']) {
      const { agents } = parse(insertAgentEntry(before, 'partner', entry)) as { agents: unknown }
      assert.deepEqual(agents, { partner: { kind: 'a2a', url: 'https://partner.example.com' } })
    }
  })

  it('does not take the place of another, nor touch what it does not understand', () => {
    assert.throws(
      () => insertAgentEntry('agents: { partner: { kind: x } }', 'partner', entry),
      /The agent partner already exists/,
    )
    assert.throws(() => insertAgentEntry('agents: [', 'partner', entry), /not valid YAML/)
    assert.throws(() => insertAgentEntry('[]', 'partner', entry), /not a mapping/)
    assert.throws(() => insertAgentEntry('agents: 3', 'partner', entry), /agents.* must be a mapping/)
  })

  it('stays JSON in a file of JSON', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-add-'))
    const file = join(folder, 'parley.json')
    writeFileSync(file, '{ "agents": { "a": { "kind": "x" } } }')
    writeAgentEntry(file, 'partner', entry)
    const tree = JSON.parse(readFileSync(file, 'utf8')) as { agents: object }
    assert.deepEqual(Object.keys(tree.agents), ['a', 'partner'])
    assert.throws(() => writeAgentEntry(file, 'a', entry), /The agent a already exists/)
    rmSync(folder, { recursive: true })
  })
})
