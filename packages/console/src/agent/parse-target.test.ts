import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseTarget } from './parse-target.ts'

describe('the target of a new agent', () => {
  it('is a URL if it begins like one', () => {
    for (const address of ['https://agent.example.com', 'http://127.0.0.1:3000/a2a/x', 'ws://127.0.0.1:18789']) {
      assert.equal(parseTarget(` ${address}\n`), address)
    }
  })

  it('is a command otherwise, split into words', () => {
    assert.deepEqual(parseTarget('npx -y @example/server'), ['npx', '-y', '@example/server'])
    assert.deepEqual(parseTarget('cat'), ['cat'])
    assert.deepEqual(parseTarget('./agent.ts'), ['./agent.ts'])
  })

  it('keeps quoted words together, as a shell does', () => {
    assert.deepEqual(parseTarget(`sh -c 'echo "a b"' "it's" a\\ b x"y z"`), [
      'sh',
      '-c',
      'echo "a b"',
      "it's",
      'a b',
      'xy z',
    ])
    assert.deepEqual(parseTarget(String.raw`say "a \"b\" c" ''`), ['say', 'a "b" c', ''])
  })

  it('is undefined while the field is empty', () => {
    assert.equal(parseTarget('  \n'), undefined)
  })
})
