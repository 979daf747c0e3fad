import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { agentPath, playgroundPath } from '../../../agent/agent-path.ts'
import { endpointsOf, hubUrlOf } from './endpoints.ts'

describe('the endpoints of an agent', () => {
  it('are listed by binding and version, also for 0.2', () => {
    const card = 'https://hub/a2a/x/.well-known/agent-card.json'
    const endpoints = [
      { url: 'https://hub/a2a/x', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'https://hub/a2a/x', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      { url: 'hub:443', protocolBinding: 'GRPC', protocolVersion: '1.0', tenant: 'x' },
    ]
    const listed = endpointsOf({ endpoints, card }, { cards: { '0.2': { url: 'https://hub/a2a/x/' } }, signatures: [] })
    assert.deepEqual(
      listed.map(({ binding, version, url, note }) => [binding, version, url, note]),
      [
        ['JSON-RPC', '1.0', 'https://hub/a2a/x', undefined],
        ['REST', '0.3', 'https://hub/a2a/x', 'for example POST …/v1/message:send'],
        ['gRPC', '1.0', 'hub:443', 'with the tenant x'],
        ['JSON-RPC', '0.2', 'https://hub/a2a/x/', undefined],
        [
          'Card',
          'all',
          card,
          'The header A2A-Version selects the version. Without it, clients of all versions can read it.',
        ],
      ],
    )
    assert.equal(endpointsOf({ endpoints: [], card }, undefined).length, 1)
  })

  it('are below the URL of the hub, wherever it is mounted', () => {
    assert.equal(hubUrlOf('https://hub.example.com/a2a/x'), 'https://hub.example.com')
    assert.equal(hubUrlOf('https://example.com/parley/a2a/x/'), 'https://example.com/parley')
  })
})

describe('the path of an agent in the console', () => {
  it('has its name and tab, also for an agent named like the form', () => {
    assert.equal(agentPath('gpt'), '/agents/gpt')
    assert.equal(agentPath('gpt', 'overview'), '/agents/gpt')
    assert.equal(agentPath('a~b', 'keys'), '/agents/a~b/keys')
    assert.equal(agentPath('new'), '/agents/new/overview')
  })

  it('leads to the playground with a truncated text', () => {
    assert.equal(playgroundPath('gpt'), '/playground/gpt')
    assert.equal(playgroundPath('gpt', 'a b&c'), '/playground/gpt?text=a%20b%26c')
    assert.ok(playgroundPath('gpt', 'x'.repeat(5_000)).length < 2_100)
    assert.match(playgroundPath('gpt', `${'x'.repeat(1_999)}😀`), /%EF%BF%BD$/)
  })
})
