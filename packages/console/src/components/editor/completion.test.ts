import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { completionAt } from './completion.ts'
import type { ConfigSchema } from './config-schema.ts'

const file = new URL('../../../../hub/parley.schema.json', import.meta.url)
const schema = JSON.parse(readFileSync(file, 'utf8')) as ConfigSchema

/** The completions at `|`. */
function offered(marked: string): readonly string[] {
  const found = completionAt(marked.replace('|', ''), marked.indexOf('|'), schema)
  return found?.items.map(({ label }) => label) ?? []
}

describe('completions of the schema', () => {
  it('are the missing sections at the start of a line', () => {
    assert.deepEqual(offered('li|'), ['listen', 'limits'])
    assert.deepEqual(offered('listen:\n  port: 1\nli|\nagents: {}\n'), ['limits'])
    assert.ok(offered('|').includes('agents'))
  })

  it('are the keys of the current section', () => {
    assert.deepEqual(offered('listen:\n  p|'), ['port'])
    assert.deepEqual(offered('# why\nlisten:\n\n  # more\n  host: a\n  g|'), ['grpcPort'])
    assert.ok(offered('listen:\n  tls:\n    |').includes('cert'))
  })

  it('are those of the named kind, also in nested settings', () => {
    const gpt = offered('agents:\n  gpt:\n    kind: openai\n    |')
    assert.ok(
      gpt.includes('baseUrl') && gpt.includes('description') && !gpt.includes('kind') && !gpt.includes('command'),
    )
    assert.ok(offered('agents:\n  gpt:\n    |\n    kind: openai\n').includes('model'))
    assert.ok(offered('agents:\n  gpt:\n    ki|').includes('kind'))
  })

  it('are the values of a key', () => {
    assert.deepEqual(offered('agents:\n  gpt:\n    kind: opena|'), ['openai'])
    assert.deepEqual(offered('agents:\n  gpt:\n    kind: openai\n    default: |'), ['true', 'false'])
  })

  it('are those of a list item', () => {
    const keys = offered('access:\n  jwt:\n    - iss|')
    assert.deepEqual(keys, ['issuer'])
    assert.ok(offered('access:\n  jwt:\n    - issuer: https://a.example\n      |').includes('audience'))
    assert.ok(!offered('access:\n  jwt:\n    - issuer: https://a.example\n      |').includes('issuer'))
  })

  it('have descriptions, and replace the typed prefix', () => {
    const found = completionAt('listen:\n  ho', 12, schema)
    assert.deepEqual([found?.from, found?.to], [10, 12])
    assert.match(found?.items[0]?.about ?? '', /loopback only/)
  })

  it('are found between braces, with the kind that they name', () => {
    assert.deepEqual(offered('listen: { p|'), ['port'])
    assert.deepEqual(offered('agents:\n  a: { kind: demo, agent: c|'), ['clock', 'concierge'])
    assert.ok(!offered('agents:\n  a: { agent: echo, | kind: demo }').includes('agent'))
  })

  it('begin the next line for a section or a list, and list required keys first', () => {
    const insert = (marked: string, label: string): string | undefined =>
      completionAt(marked.replace('|', ''), marked.indexOf('|'), schema)?.items.find((one) => one.label === label)
        ?.insert
    assert.equal(insert('lim|', 'limits'), 'limits:\n  ')
    assert.equal(insert('agents:\n  g:\n    kind: openai\n    |', 'models'), 'models:\n      - ')
    assert.equal(insert('agents:\n  g: { kind: openai, |', 'models'), 'models: ')
    assert.deepEqual(offered('agents:\n  g:\n    kind: openai\n    |').slice(0, 2), ['baseUrl', 'model'])
  })

  it('are empty in comments, quotes and unknown sections', () => {
    assert.deepEqual(offered('# li|'), [])
    assert.deepEqual(offered('store: "me|'), [])
    assert.deepEqual(offered('listen: { host: "p|'), [])
    assert.deepEqual(offered('nonsense:\n  |'), [])
    assert.deepEqual(offered('agents:\n  |'), [])
  })
})
