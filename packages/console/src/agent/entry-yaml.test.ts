import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { entryYaml } from './entry-yaml.ts'

describe('an entry as YAML', () => {
  it('is formatted as by hand', () => {
    const entry = {
      kind: 'command',
      command: ['node', './shout.mjs', '-x y'],
      env: { A: '1' },
      skills: [{ id: 'a', tags: [] }],
    }
    assert.equal(
      entryYaml('shout', entry),
      `agents:
  shout:
    kind: command
    command: [node, ./shout.mjs, "-x y"]
    env:
      A: "1"
    skills:
      -
        id: a
        tags: []
`,
    )
  })

  it('parses back to the same value', () => {
    const odd = [
      '',
      ' ',
      'yes',
      'null',
      '1',
      '1e3',
      '0x1',
      'a: b',
      'a #b',
      '- a',
      '*x',
      '&x',
      '!x',
      '%',
      '@x',
      '`x',
      '{a}',
      '[a]',
    ]
    const more = [
      'a,b',
      '"',
      "it's",
      '${env:KEY}',
      'https://a.b/c?d=e&f#g',
      'a\nb',
      '\t',
      'é😀',
      '~',
      '.',
      'a:',
      '?',
      '|',
      '>',
      'x [y',
      '2026-01-01',
    ]
    const entry = {
      texts: [...odd, ...more],
      keys: Object.fromEntries([...odd, ...more].map((one) => [one, one])),
      n: 1.5,
      b: true,
      z: null,
    }
    assert.deepEqual(parse(entryYaml('agent', entry)).agents.agent, entry)
  })
})
