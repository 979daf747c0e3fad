import assert from 'node:assert/strict'
import { it } from 'node:test'
import { urlOfAddress } from './address-url.ts'

it('an address without a scheme is a URL: http on this machine, otherwise https', () => {
  assert.equal(urlOfAddress('localhost:3000'), 'http://localhost:3000')
  assert.equal(urlOfAddress('[::1]:3000/a2a/x'), 'http://[::1]:3000/a2a/x')
  assert.equal(urlOfAddress('app.localhost:1'), 'http://app.localhost:1')
  assert.equal(urlOfAddress('127.0.0.1.example.com:80'), 'https://127.0.0.1.example.com:80')
  assert.equal(urlOfAddress('grpc://localhost:1'), 'grpc://localhost:1')
})
