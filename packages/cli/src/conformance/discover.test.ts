import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cardAddresses, targetsOf, versionNameOf } from './discover.ts'

describe('the address of a card', () => {
  it('is the well-known path of an origin, and below a path that is no document', () => {
    assert.deepEqual(cardAddresses('http://a.test'), [
      'http://a.test/.well-known/agent-card.json',
      'http://a.test/.well-known/agent.json',
    ])
    assert.deepEqual(cardAddresses('http://a.test/cards/x.json'), ['http://a.test/cards/x.json'])
    assert.deepEqual(cardAddresses('http://a.test/agents/x/'), [
      'http://a.test/agents/x/.well-known/agent-card.json',
      'http://a.test/agents/x/.well-known/agent.json',
      'http://a.test/agents/x/',
    ])
  })
})

describe('the interfaces of a card', () => {
  it('are those of 1.0 with a known binding and version, with their tenant', () => {
    const card = {
      supportedInterfaces: [
        { url: 'http://a.test', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'acme' },
        { url: 'http://b.test', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: 'http://a.test', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3.0' },
        { url: 'ws://a.test', protocolBinding: 'https://example.com/ws', protocolVersion: '1.0' },
        { url: 'http://a.test', protocolBinding: 'GRPC', protocolVersion: '2.0' },
      ],
    }
    assert.deepEqual(targetsOf(card), [
      { url: 'http://a.test', version: '1.0', binding: 'JSONRPC', tenant: 'acme' },
      { url: 'http://a.test', version: '0.3', binding: 'HTTP+JSON' },
    ])
  })

  it('are the main URL and the additional ones in 0.x; a card without a version is of 0.2', () => {
    const card = { url: 'http://a.test', additionalInterfaces: [{ url: 'a.test:1', transport: 'GRPC' }] }
    assert.deepEqual(targetsOf({ ...card, protocolVersion: '0.3.0' }), [
      { url: 'http://a.test', version: '0.3', binding: 'JSONRPC' },
      { url: 'a.test:1', version: '0.3', binding: 'GRPC' },
    ])
    assert.equal(targetsOf(card)[0]?.version, '0.2')
    assert.deepEqual(targetsOf({ ...card, protocolVersion: 'next' }), [])
  })

  it('have a version of two numbers', () => {
    assert.deepEqual(['1.0', '1.0.1', '0.2.6', '1.1', 1, undefined].map(versionNameOf), [
      '1.0',
      '1.0',
      '0.2',
      undefined,
      undefined,
      undefined,
    ])
  })
})
