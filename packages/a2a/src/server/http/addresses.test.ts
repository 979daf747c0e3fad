import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clientAddress, clientNetwork } from './addresses.ts'

describe('a sender', () => {
  it('is an address of IPv4, or a network of IPv6', () => {
    const senders: Readonly<Record<string, string>> = {
      '192.0.2.1': '192.0.2.1',
      '::ffff:192.0.2.1': '192.0.2.1',
      '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
      '2001:DB8:1:2::': '2001:db8:1:2::/64',
      '2001:db8::1': '2001:db8:0:0::/64',
      '::1': '0:0:0:0::/64',
      'fe80::1%eth0': 'fe80:0:0:0::/64',
      '[2001:db8:0:2::7]': '2001:db8:0:2::/64',
      '64:ff9b::192.0.2.1': '64:ff9b:0:0::/64',
      '/run/parley.sock': '/run/parley.sock',
    }
    for (const [address, sender] of Object.entries(senders)) assert.equal(clientNetwork(address), sender, address)
    assert.equal(clientNetwork(undefined), 'unknown')
  })

  it('is whom a trusted proxy saw, and not whom the request says that it comes from', () => {
    const forwarded = { header: () => '203.0.113.9, 198.51.100.7', remoteAddress: '10.0.0.1' }
    assert.equal(clientAddress(forwarded, true), '198.51.100.7')
    assert.equal(clientAddress(forwarded, false), '10.0.0.1')
    assert.equal(clientAddress({ header: () => undefined, remoteAddress: '10.0.0.1' }, true), '10.0.0.1')
  })
})
