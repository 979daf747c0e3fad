import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentEntryText, mergeEntryText, setAgentEntry } from './edit-agent-entry.ts'

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
    assert.match(changed, / {2}b:\n {4}kind: demo # second\n {4}agent: echo\nlimits/)
    assert.equal(setAgentEntry(yaml, 'a', undefined, false), yaml.replace(/ {2}a: .*\n/, ''))
    assert.equal(setAgentEntry(yaml, 'missing', undefined, false), yaml)
  })

  it('is the first where there was none', () => {
    assert.equal(setAgentEntry('', 'a', { kind: 'demo' }, false), 'agents:\n  a:\n    kind: demo\n')
    assert.match(setAgentEntry('limits: {}\n', 'a', { kind: 'demo' }, false), /^limits: \{\}\nagents:\n {2}a:\n/)
  })

  it('that ends with a comment leaves the next one in its place, with its comment', () => {
    const commented = 'agents:\n  a:\n    kind: demo\n    # own\n\n  # next\n  b:\n    kind: demo\n'
    const next = '\n  # next\n  b:\n    kind: demo\n'
    assert.equal(
      setAgentEntry(commented, 'a', 'kind: demo\nx: 1\n', false),
      `agents:\n  a:\n    kind: demo\n    x: 1\n${next}`,
    )
    assert.ok(setAgentEntry(commented, 'a', { kind: 'demo', x: 1 }, false).endsWith(`# own\n${next}`))
    assert.equal(agentEntryText(commented, 'a', false), 'kind: demo\n# own\n')
  })

  it('keeps JSON what it is', () => {
    const json = '{ "agents": { "a": { "kind": "demo" } } }'
    assert.deepEqual(JSON.parse(setAgentEntry(json, 'b', { kind: 'demo' }, true)), {
      agents: { a: { kind: 'demo' }, b: { kind: 'demo' } },
    })
    assert.deepEqual(JSON.parse(setAgentEntry(json, 'a', undefined, true)), { agents: {} })
  })

  it('is replaced by a text with its comments, in the style that it had', () => {
    const changed = setAgentEntry(yaml, 'b', '# why\nkind: demo\nagent: clock # timer\n', false)
    assert.match(changed, / {2}b:\n {4}# why\n {4}kind: demo\n {4}agent: clock # timer\nlimits/)
    assert.equal(setAgentEntry(yaml, 'a', 'kind: demo\n', false), yaml)
    assert.match(setAgentEntry(yaml, 'a', 'kind: demo # why\n', false), / {2}a:\n {4}kind: demo # why\n/)
    assert.throws(() => setAgentEntry(yaml, 'a', '- kind', false), /must be a mapping/)
  })

  it('leaves the lines of other parts as they are written', () => {
    const folded = `agents:\n  a:\n    kind: demo\n    description: "a text over\n      two lines"\n\n  b:   # why\n    kind: demo\n# end\n`
    const changed = setAgentEntry(folded, 'b', { kind: 'demo', agent: 'echo' }, false)
    assert.equal(
      changed,
      folded.replace('  b:   # why\n    kind: demo\n', '  b:\n    # why\n    kind: demo\n    agent: echo\n'),
    )
    assert.equal(setAgentEntry(folded, 'a', agentEntryText(folded, 'a', false), false), folded)
  })

  it('is refused where it has no place', () => {
    assert.throws(
      () => setAgentEntry('agents: []', 'a', { kind: 'demo' }, false),
      /must be a mapping of names to entries/,
    )
    assert.throws(() => setAgentEntry('agents: [', 'a', { kind: 'demo' }, false), /not valid YAML/)
  })

  it('is refused if the file could not be parsed with it', () => {
    const block = 'agents:\n  a:\n    kind: demo\n'
    assert.throws(() => setAgentEntry(block, 'a', '%YAML 1.2\n---\nkind: demo\n', false), /would not be valid YAML/)
  })

  it('is refused with an alias that has no anchor in it', () => {
    const refused = { name: 'ConfigError', message: /not valid YAML: Unresolved alias/ }
    for (const text of [yaml, 'agents:\n  a:\n    kind: demo\n', 'agents:\n  a: { kind: demo }\n']) {
      assert.throws(() => setAgentEntry(text, 'a', 'kind: demo\nx: *A\n', false), refused)
    }
    assert.throws(() => setAgentEntry('{"agents":{}}', 'a', 'kind: demo\nx: *A\n', true), refused)
    assert.throws(() => mergeEntryText('kind: demo\nx: *A\n', { kind: 'demo', x: 1 }, false), refused)
  })

  it('is refused if other parts of the file use its anchor, and would change', () => {
    const refused = { name: 'ConfigError', message: /other parts of the file refer to agents\.a/ }
    for (const text of [
      'agents:\n  a: &A\n    kind: demo\n    x: 1\n  b: *A\n',
      'agents:\n  a: &A { kind: demo, x: 1 }\n  b: *A\n',
      'agents:\n  a:\n    kind: demo\n    x: &A 1\n  b:\n    kind: demo\n    x: *A\n',
    ]) {
      assert.throws(() => setAgentEntry(text, 'a', 'kind: demo\nx: 2\n', false), refused)
      assert.throws(() => setAgentEntry(text, 'a', { kind: 'demo', x: 2 }, false), refused)
      assert.throws(() => setAgentEntry(text, 'a', undefined, false), refused)
    }
    const partly = 'agents:\n  a:\n    kind: demo\n    x: &A 1\n    y: 1\n  b:\n    kind: demo\n    x: *A\n'
    assert.equal(setAgentEntry(partly, 'a', { kind: 'demo', x: 1, y: 2 }, false), partly.replace('y: 1', 'y: 2'))
    assert.throws(() => setAgentEntry(partly, 'b', 'kind: demo\nx: *A\n', false), { name: 'ConfigError' })
    assert.match(setAgentEntry(partly, 'b', { kind: 'demo', x: 3 }, false), /x: 3\n$/)
  })
})

describe('the entry of an agent as text', () => {
  it('is in block style, with its comments', () => {
    assert.equal(agentEntryText(yaml, 'a', false), 'kind: demo\n')
    assert.equal(agentEntryText(yaml, 'b', false), 'kind: demo # second\n')
    assert.equal(agentEntryText(yaml, 'c', false), undefined)
    assert.equal(agentEntryText('{ "agents": { "a": { "kind": "demo" } } }', 'a', true), '{\n  "kind": "demo"\n}\n')
  })

  it('shows the values of an alias, whose anchor is elsewhere in the file', () => {
    const shared = 'x: &x { rate: 5/s }\nagents:\n  a:\n    kind: demo\n    limits: *x\n'
    assert.equal(agentEntryText(shared, 'a', false), 'kind: demo\nlimits:\n  rate: 5/s\n')
  })

  it('keeps its comments when values change', () => {
    const before = 'kind: openai # the model\nmodel: a\nlimits: # all callers\n  rate: 5/s # slow\n  queue: 4\n'
    const entry = { kind: 'openai', model: 'b', limits: { rate: '5/s' }, models: ['c'] }
    assert.equal(
      mergeEntryText(before, entry, false),
      'kind: openai # the model\nmodel: b\nlimits:\n  # all callers\n  rate: 5/s # slow\nmodels:\n  - c\n',
    )
    assert.equal(mergeEntryText('not: [valid', { kind: 'demo' }, false), 'kind: demo\n')
  })

  it('has the given values, although an anchor in it is shared', () => {
    const shared = 'kind: demo\na: &A 1\nb: *A\n'
    assert.equal(mergeEntryText(shared, { kind: 'demo', b: 1, a: 2 }, false), 'kind: demo\nb: 1\na: 2\n')
    assert.equal(mergeEntryText(shared, { kind: 'demo', b: 1 }, false), 'kind: demo\nb: 1\n')
  })
})
