import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard, AgentInterface } from '../model/card.ts'
import { A2AError } from '../model/error.ts'
import { decodeCard } from '../versions/decode-card.ts'
import { selectInterfaces, type SelectInterfaceOptions } from './select-interface.ts'

const one = (protocolBinding: string, protocolVersion: string, over: Partial<AgentInterface> = {}): AgentInterface => ({
  url: `https://a.test/${protocolBinding}/${protocolVersion}`,
  protocolBinding,
  protocolVersion,
  ...over,
})
const card = (...supportedInterfaces: AgentInterface[]) => ({ supportedInterfaces }) as unknown as AgentCard
const names = (from: AgentCard, options?: SelectInterfaceOptions) =>
  selectInterfaces(from, options).map(({ protocolBinding, version }) => `${protocolBinding} ${version}`)
const grpc = { protocolBinding: 'GRPC', versions: ['1.0'] as const }

describe('the usable interfaces of a card', () => {
  it('are in the order of the card, the rest being fallbacks [B-16 B-17 B-20 A-31]', () => {
    const offered = card(one('HTTP+JSON', '1.0', { tenant: 'blue' }), one('JSONRPC', '1.0'), one('JSONRPC', '0.3'))
    assert.deepEqual(names(offered), ['HTTP+JSON 1.0', 'JSONRPC 1.0', 'JSONRPC 0.3'])
    const [best] = selectInterfaces(offered)
    assert.deepEqual(best, {
      ...one('HTTP+JSON', '1.0', { tenant: 'blue' }),
      version: '1.0',
      why: 'Number 1 of 3 on the card',
    })
  })

  it('pair the urls of 0.3 with their own transports, the main one first [B-18 B-28]', () => {
    const old = {
      name: 'Old',
      version: '1',
      protocolVersion: '0.3.0',
      url: 'https://a.test/main',
      additionalInterfaces: [
        { url: 'https://a.test/rest', transport: 'HTTP+JSON' },
        { url: 'https://a.test/main', transport: 'JSONRPC' },
      ],
    }
    const pairs = (over: object) =>
      selectInterfaces(decodeCard({ ...old, ...over })).map((at) => [at.protocolBinding, at.url])
    const rest = ['HTTP+JSON', 'https://a.test/rest']
    assert.deepEqual(pairs({}), [['JSONRPC', 'https://a.test/main'], rest])
    assert.deepEqual(pairs({ preferredTransport: 'GRPC' }), [rest, ['JSONRPC', 'https://a.test/main']])
  })

  it('exclude unsupported bindings, versions and addresses', () => {
    const usable = one('JSONRPC', '1.0')
    const offered = card(
      one('GRPC', '1.0'),
      one('https://bindings.test/pigeon', '1.0'),
      one('JSONRPC', '2.0'),
      one('JSONRPC', '1.1'),
      one('JSONRPC', ''),
      one('JSONRPC', '1.0', { url: '/relative' }),
      one('JSONRPC', '1.0', { url: 'ftp://a.test' }),
      one('JSONRPC', '1.0', { url: 'javascript:1' }),
      usable,
    )
    assert.deepEqual(
      selectInterfaces(offered).map(({ url }) => url),
      [usable.url],
    )
  })

  it('read a version with its patch and a binding in any case [B-4]', () => {
    const offered = card(
      one('jsonrpc', '1.0.1'),
      one('JSONRPC', '0.3.0'),
      one('JSONRPC', '0.2.6'),
      one('http+json', '0.3'),
    )
    assert.deepEqual(names(offered), ['jsonrpc 1.0', 'JSONRPC 0.3', 'JSONRPC 0.2', 'http+json 0.3'])
  })

  it('begin with those that the caller prefers, in that order', () => {
    const offered = card(one('JSONRPC', '1.0'), one('GRPC', '1.0'), one('HTTP+JSON', '1.0'), one('HTTP+JSON', '0.3'))
    assert.deepEqual(names(offered, { prefer: ['http+json'] }), ['HTTP+JSON 1.0', 'HTTP+JSON 0.3', 'JSONRPC 1.0'])
    assert.deepEqual(names(offered, { prefer: ['GRPC', 'HTTP+JSON'], bindings: [grpc] }), [
      'GRPC 1.0',
      'HTTP+JSON 1.0',
      'HTTP+JSON 0.3',
      'JSONRPC 1.0',
    ])
    assert.match(selectInterfaces(offered, { prefer: ['HTTP+JSON'] })[0].why, /3 of 4.*prefers/)
  })

  it('are limited to a pinned version [B-9]', () => {
    const offered = card(one('JSONRPC', '1.0'), one('HTTP+JSON', '0.3'), one('JSONRPC', '0.3'))
    assert.deepEqual(names(offered, { version: '0.3' }), ['HTTP+JSON 0.3', 'JSONRPC 0.3'])
    assert.match(selectInterfaces(offered, { version: '0.3' })[0].why, /pinned/)
    assert.throws(
      () => selectInterfaces(offered, { version: '0.2' }),
      (error: A2AError) => {
        assert.equal(error.code, 'VERSION_NOT_SUPPORTED')
        assert.match(error.message, /offers JSONRPC 1\.0 at https.*requested: JSONRPC 0\.2 or HTTP\+JSON 0\.2$/)
        return true
      },
    )
  })

  it('include a custom binding, with its own kind of address and versions', () => {
    const at = one('GRPC', '1.0', { url: 'agents.test:443' })
    assert.deepEqual(names(card(at, one('GRPC', '0.3')), { bindings: [grpc] }), ['GRPC 1.0'])
  })

  it('have the tenant of the card, or the one the caller names [B-17]', () => {
    const offered = card(one('JSONRPC', '1.0', { tenant: 'blue' }), one('JSONRPC', '0.3'))
    const tenants = (options: SelectInterfaceOptions) => selectInterfaces(offered, options).map(({ tenant }) => tenant)
    assert.deepEqual(tenants({}), ['blue', undefined])
    assert.deepEqual(tenants({ tenant: 'red' }), ['red', 'red'])
  })

  it('give an error with the offered and the supported ones, if there are none', () => {
    assert.throws(
      () => selectInterfaces(card(one('GRPC', '1.0'), one('JSONRPC', '2.0'))),
      (error: unknown) => {
        assert.ok(error instanceof A2AError)
        assert.equal(error.code, 'VERSION_NOT_SUPPORTED')
        assert.match(error.message, /offers GRPC 1\.0 at .*, JSONRPC 2\.0 at .*JSONRPC 1\.0\/0\.3\/0\.2 or HTTP\+JSON/)
        assert.match(String(error.details['offered']), /^GRPC 1\.0 at/)
        return true
      },
    )
  })
})
