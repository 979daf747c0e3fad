import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { grpcAddress } from './address.ts'

describe('the address of a gRPC interface', () => {
  it('is host and port, or a url as examples have it; a scheme says whether by TLS, else TLS unless it is this machine [F-10]', () => {
    const cases: [given: string, tls: boolean | undefined, target: string, url: string][] = [
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
      // It only begins like this machine.
      ['127.0.0.1.example.com:1', undefined, '127.0.0.1.example.com:1', 'https://127.0.0.1.example.com:1'],
    ]
    for (const [given, tls, target, url] of cases) {
      assert.deepEqual(grpcAddress(given, tls), { target, url, isSecure: url.startsWith('https') }, given)
    }
  })

  it('is nothing else', () => {
    for (const given of ['', 'unix:///tmp/socket', 'file:///etc/passwd', 'user:password@host:1', 'a b:1']) {
      assert.throws(() => grpcAddress(given, undefined), { code: 'INVALID_AGENT_RESPONSE' }, given)
    }
  })
})
