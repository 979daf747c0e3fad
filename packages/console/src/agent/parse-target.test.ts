import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseTarget } from './parse-target.ts'

describe('what is put into the box', () => {
  it('is an address if it begins like one', () => {
    for (const address of ['https://agent.example.com', 'http://127.0.0.1:3000/a2a/x', 'ws://127.0.0.1:18789']) {
      assert.equal(parseTarget(` ${address}\n`), address)
    }
  })

  it('is a command otherwise, in its words', () => {
    assert.deepEqual(parseTarget('npx -y @example/server'), ['npx', '-y', '@example/server'])
    assert.deepEqual(parseTarget('cat'), ['cat'])
    assert.deepEqual(parseTarget('./agent.ts'), ['./agent.ts'])
  })

  it('keeps together what is quoted, as a shell would', () => {
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

  it('is nothing while the box is empty', () => {
    assert.equal(parseTarget('  \n'), undefined)
  })
})
