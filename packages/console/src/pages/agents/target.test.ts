import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { targetOf } from './target.ts'

describe('what is put into the box', () => {
  it('is an address if it begins like one', () => {
    for (const address of ['https://agent.example.com', 'http://127.0.0.1:3000/a2a/x', 'ws://127.0.0.1:18789']) {
      assert.equal(targetOf(` ${address}\n`), address)
    }
  })

  it('is a command otherwise, in its words', () => {
    assert.deepEqual(targetOf('npx -y @example/server'), ['npx', '-y', '@example/server'])
    assert.deepEqual(targetOf('cat'), ['cat'])
    assert.deepEqual(targetOf('./agent.ts'), ['./agent.ts'])
  })

  it('keeps together what is quoted, as a shell would', () => {
    assert.deepEqual(targetOf(`sh -c 'echo "a b"' "it's" a\\ b x"y z"`), [
      'sh',
      '-c',
      'echo "a b"',
      "it's",
      'a b',
      'xy z',
    ])
    assert.deepEqual(targetOf(String.raw`say "a \"b\" c" ''`), ['say', 'a "b" c', ''])
  })

  it('is nothing while the box is empty', () => {
    assert.equal(targetOf('  \n'), undefined)
  })
})
