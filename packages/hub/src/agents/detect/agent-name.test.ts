import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { validateAgentName } from '@parley/a2a/internal'
import { uniqueAgentName, agentNameFrom } from './detect.ts'

describe('a name for an agent', () => {
  it('is made of what it calls itself, or of what else is known', () => {
    assert.deepEqual(
      [
        agentNameFrom('Ünlü Greeter!'),
        agentNameFrom('mcp-servers/everything'),
        agentNameFrom('@scope/some-server'),
        agentNameFrom('https://example.com/'),
        agentNameFrom('', undefined, '  ', 'next'),
        agentNameFrom('日本'),
        agentNameFrom('mcp'),
        agentNameFrom('--x--'),
      ],
      ['unlu-greeter', 'everything', 'some-server', 'example.com', 'next', 'new-agent', 'mcp-agent', 'x'],
    )
    for (const odd of ['x'.repeat(200), '.well-known', 'tasks', '...', 'a b\n', `${'x'.repeat(47)}- y`])
      assert.equal(validateAgentName(agentNameFrom(odd)), undefined, agentNameFrom(odd))
  })

  it('is not already taken', () => {
    assert.equal(uniqueAgentName('echo', []), 'echo')
    assert.equal(uniqueAgentName('echo', ['echo', 'echo-2', 'echo-4']), 'echo-3')
  })
})
