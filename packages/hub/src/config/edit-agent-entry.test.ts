import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setAgentEntry } from './edit-agent-entry.ts'

const yaml = `# Ours.
agents:
  a: { kind: demo } # first
  b:
    kind: demo # second
limits: {}
`

describe('an agent, put into a text', () => {
  it('stands as its neighbours do, or as it did, and leaves the rest alone', () => {
    const added = setAgentEntry(yaml, 'c', { kind: 'demo', agent: 'echo' }, false)
    assert.equal(added, yaml.replace('limits', '  c: { kind: demo, agent: echo }\nlimits'))
    const changed = setAgentEntry(yaml, 'b', { kind: 'demo', agent: 'echo' }, false)
    assert.match(changed, / {2}b:\n {4}kind: demo\n {4}agent: echo\nlimits/)
    assert.equal(setAgentEntry(yaml, 'a', undefined, false), yaml.replace(/ {2}a: .*\n/, ''))
    assert.equal(setAgentEntry(yaml, 'missing', undefined, false), yaml)
  })

  it('is the first where there was none', () => {
    assert.equal(setAgentEntry('', 'a', { kind: 'demo' }, false), 'agents:\n  a:\n    kind: demo\n')
    assert.match(setAgentEntry('limits: {}\n', 'a', { kind: 'demo' }, false), /^limits: \{\}\nagents:\n {2}a:\n/)
  })

  it('keeps JSON what it is', () => {
    const json = '{ "agents": { "a": { "kind": "demo" } } }'
    assert.deepEqual(JSON.parse(setAgentEntry(json, 'b', { kind: 'demo' }, true)), {
      agents: { a: { kind: 'demo' }, b: { kind: 'demo' } },
    })
    assert.deepEqual(JSON.parse(setAgentEntry(json, 'a', undefined, true)), { agents: {} })
  })

  it('is refused where it has no place', () => {
    assert.throws(
      () => setAgentEntry('agents: []', 'a', { kind: 'demo' }, false),
      /must be a mapping of names to entries/,
    )
    assert.throws(() => setAgentEntry('agents: [', 'a', { kind: 'demo' }, false), /not valid YAML/)
  })
})
