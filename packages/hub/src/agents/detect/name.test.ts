import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { whatIsWrongWithName } from '@parley/a2a/server'
import { freeName, nameFrom } from './name.ts'

describe('a name for an agent', () => {
  it('is made of what it calls itself, or of what else is known', () => {
    assert.deepEqual(
      [
        nameFrom('Ünlü Greeter!'),
        nameFrom('mcp-servers/everything'),
        nameFrom('@scope/some-server'),
        nameFrom('https://example.com/'),
        nameFrom('', undefined, '  ', 'next'),
        nameFrom('日本'),
        nameFrom('mcp'),
        nameFrom('--x--'),
      ],
      ['unlu-greeter', 'everything', 'some-server', 'example.com', 'next', 'new-agent', 'mcp-agent', 'x'],
    )
    for (const odd of ['x'.repeat(200), '.well-known', 'tasks', '...', 'a b\n', `${'x'.repeat(47)}- y`])
      assert.equal(whatIsWrongWithName(nameFrom(odd)), undefined, nameFrom(odd))
  })

  it('is one that nobody has', () => {
    assert.equal(freeName('echo', []), 'echo')
    assert.equal(freeName('echo', ['echo', 'echo-2', 'echo-4']), 'echo-3')
  })
})
