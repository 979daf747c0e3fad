import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { grpcAddress } from './grpc-address.ts'

describe('the address of a gRPC interface', () => {
  it('is host and port, or a url; the scheme decides about TLS, else TLS except on loopback [F-10]', () => {
    const cases: [given: string, tls: boolean | undefined, authority: string, url: string][] = [
      ['agent.example.com:50051', undefined, 'agent.example.com:50051', 'https://agent.example.com:50051'],
      ['agent.example.com', undefined, 'agent.example.com:443', 'https://agent.example.com'],
      ['agent.internal:50051', false, 'agent.internal:50051', 'http://agent.internal:50051'],
      ['localhost:3001', undefined, 'localhost:3001', 'http://localhost:3001'],
      ['127.0.0.1:3001', undefined, '127.0.0.1:3001', 'http://127.0.0.1:3001'],
      ['[::1]:3001', undefined, '[::1]:3001', 'http://[::1]:3001'],
      ['localhost:3001', true, 'localhost:3001', 'https://localhost:3001'],
      ['https://agent.example.com/grpc', undefined, 'agent.example.com:443', 'https://agent.example.com'],
      ['HTTP://agent.example.com', undefined, 'agent.example.com:80', 'http://agent.example.com'],
      ['grpcs://localhost:3001', false, 'localhost:3001', 'https://localhost:3001'],
      ['grpc://agent.example.com:3001', true, 'agent.example.com:3001', 'http://agent.example.com:3001'],
      // It only begins like a loopback address.
      ['127.0.0.1.example.com:1', undefined, '127.0.0.1.example.com:1', 'https://127.0.0.1.example.com:1'],
    ]
    for (const [given, tls, authority, url] of cases) {
      const address = grpcAddress(given, tls)
      const { authority: at, url: as, isSecure } = address
      assert.deepEqual([at, as, isSecure], [authority, url, url.startsWith('https')], given)
      const host = address.host.includes(':') ? `[${address.host}]` : address.host
      assert.equal(`${host}:${address.port}`, authority, given)
    }
  })

  it('has one spelling of a host, so that the check and the connection use the same one [B-26]', () => {
    const cases: [given: string, host: string, port: number][] = [
      ['http://2130706433:1', '127.0.0.1', 1],
      ['0x7f.1:50051', '127.0.0.1', 50051],
      ['AGENT.Example.COM:50051', 'agent.example.com', 50051],
      ['[0:0:0:0:0:0:0:1]:50051', '::1', 50051],
      // These begin like schemes of gRPC targets, which would be local sockets.
      ['unix:50051', 'unix', 50051],
      ['dns:53', 'dns', 53],
    ]
    for (const [given, host, port] of cases) {
      const address = grpcAddress(given, undefined)
      assert.deepEqual([address.host, address.port], [host, port], given)
    }
  })

  it('is invalid otherwise', () => {
    const others = [
      '',
      'unix:///tmp/socket',
      'file:///etc/passwd',
      'user:password@host:1',
      'a b:1',
      'host:0',
      'host:65536',
    ]
    const hidden = [
      'http://named.example.com\\x.evil.test:1',
      'a%2eb:1',
      'a,b:1',
      'a:1,b:2',
      'ho\u0000st:1',
      'ｈost:1',
      'a\tb:1',
    ]
    for (const given of [...others, ...hidden, '[::1%25eth0]:1', '[]:1', ':1', 'a:1:2']) {
      assert.throws(() => grpcAddress(given, undefined), { code: 'INVALID_AGENT_RESPONSE' }, given)
    }
  })
})
