import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tokenizeYaml } from './yaml-tokens.ts'

/** The tokens of one line that are not space, as `kind:text`. */
const tokens = (line: string): readonly string[] =>
  (tokenizeYaml(line)[0] ?? []).flatMap(({ kind, text }) => (text.trim() === '' ? [] : [`${kind}:${text}`]))

describe('the colours of YAML', () => {
  it('distinguish keys, values, marks and comments', () => {
    assert.deepEqual(tokens('  - model: gpt-4.1 # why'), [
      'mark:-',
      'key:model',
      'mark::',
      'string:gpt-4.1 ',
      'comment:# why',
    ])
    assert.deepEqual(tokens('listen: { port: 0, tls: false }'), [
      'key:listen',
      'mark::',
      'mark:{',
      'key:port',
      'mark::',
      'number:0',
      'mark:,',
      'key:tls',
      'mark::',
      'word:false ',
      'mark:}',
    ])
  })

  it('keep URLs, durations and variables whole', () => {
    assert.deepEqual(tokens('url: http://a.example/#x'), ['key:url', 'mark::', 'string:http://a.example/#x'])
    assert.deepEqual(tokens('timeout: 5m'), ['key:timeout', 'mark::', 'number:5m'])
    assert.deepEqual(tokens('key: "a ${env:KEY}"'), [
      'key:key',
      'mark::',
      'string:"a ',
      'variable:${env:KEY}',
      'string:"',
    ])
  })

  it('follow a block scalar to its end', () => {
    const kinds = tokenizeYaml('system: |\n  a: b # no comment\n\nnext: 1').map((line) => line[0]?.kind)
    assert.deepEqual(kinds, ['key', 'string', undefined, 'key'])
  })

  it('lose no character, whatever is typed', () => {
    for (const text of [
      'a: "unclosed',
      "it's: {",
      '- - x',
      ':',
      '#',
      '\t- [a, "b"]: c',
      "don't stop: ${env:",
      'a:b: c',
    ])
      assert.equal(
        tokenizeYaml(text)[0]
          ?.map((token) => token.text)
          .join(''),
        text,
      )
  })
})
