import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAddressRule } from './guarded-fetch.ts'

describe('allowed addresses', () => {
  const { allowsAddress } = createAddressRule({})

  it('include public ones, also IPv4 in IPv6 [B-26]', () => {
    for (const address of [
      '8.8.8.8',
      '1.1.1.1',
      '172.15.255.255',
      '172.32.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '192.167.255.255',
      '223.255.255.255',
      '2606:4700:4700::1111',
      '2a00:1450:4001:80e::200e',
      '::ffff:8.8.8.8',
      '::ffff:808:808',
      '64:ff9b::8.8.8.8',
      '2002:808:808::1',
    ]) {
      assert.equal(allowsAddress(address), true, address)
    }
  })

  // One for each entry of the registries of special-purpose addresses, and the boundaries where mistakes are made.
  const special: Record<string, readonly string[]> = {
    'this host': ['0.0.0.0', '0.1.2.3', '::'],
    loopback: ['127.0.0.1', '127.255.255.254', '::1'],
    private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', 'fc00::1', 'fd00:ec2::254'],
    'link-local, where clouds keep their secrets': [
      '169.254.169.254',
      '169.254.0.1',
      'fe80::1',
      'fe80::1%eth0',
      'febf::1',
    ],
    'carrier-grade NAT': ['100.64.0.1', '100.100.100.200', '100.127.255.255'],
    'protocol assignments': ['192.0.0.1', '192.0.0.170', '192.88.99.1', '192.31.196.1', '192.52.193.1', '192.175.48.1'],
    documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
    benchmarks: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
    multicast: ['224.0.0.1', '239.255.255.250', 'ff02::1', 'ff0e::1'],
    'reserved and broadcast': ['240.0.0.1', '255.255.255.255'],
    'old and rare kinds of IPv6': [
      '100::1',
      'fec0::1',
      '2001::1',
      '2001:10::1',
      '2001:20::1',
      '5f00::1',
      '4000::1',
      'e000::1',
    ],
    'private IPv4 in IPv6': [
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:10.0.0.1',
      '::ffff:169.254.169.254',
      '::127.0.0.1',
      '::a00:1',
      '::ffff:0:10.0.0.1',
      '64:ff9b::127.0.0.1',
      '64:ff9b::a9fe:a9fe',
      '64:ff9b:1::8.8.8.8',
      '2002:7f00:1::',
      '2002:a00:1::1',
      '2002:a9fe:a9fe::1',
      '2001:0:7f00:1::',
    ],
    'IPv4 in other notations': [
      '2130706433',
      '0x7f000001',
      '0x7f.0.0.1',
      '017700000001',
      '0177.0.0.1',
      '127.1',
      '127.0.1',
    ],
    'no address at all': ['', 'localhost', '8.8.8.8.8', '256.1.1.1', ':::', '[::1]', '8.8.8.8 ', '8.8.8.8/8'],
  }
  for (const [kind, addresses] of Object.entries(special)) {
    it(`exclude those of ${kind} [B-26]`, () => {
      for (const address of addresses) assert.equal(allowsAddress(address), false, address)
    })
  }

  it('include loopback if that is allowed', () => {
    const rule = createAddressRule({ allowLoopback: true })
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
      assert.ok(rule.allowsAddress(address), address)
    for (const address of ['10.0.0.1', '0.0.0.0', 'fe80::1', '169.254.169.254'])
      assert.ok(!rule.allowsAddress(address), address)
  })

  it('include those named by address, range or name', () => {
    const allow = ['10.1.0.0/16', '192.168.7.7', 'fd00:1::/32', 'agents.internal', '*.svc.cluster.local.']
    const rule = createAddressRule({ allow })
    for (const address of ['10.1.2.3', '192.168.7.7', 'fd00:1::5', '::ffff:10.1.0.1', '64:ff9b::10.1.0.1'])
      assert.ok(rule.allowsAddress(address), address)
    for (const address of ['10.2.0.1', '192.168.7.8', 'fd00:2::5', '::ffff:10.2.0.1'])
      assert.ok(!rule.allowsAddress(address))
    for (const name of ['agents.internal', 'AGENTS.internal.', 'a.svc.cluster.local', 'a.b.svc.cluster.local'])
      assert.ok(rule.allowsHost(name), name)
    for (const name of ['internal', 'x.agents.internal', 'svc.cluster.local', 'evilsvc.cluster.local', '10.1.2.3'])
      assert.ok(!rule.allowsHost(name), name)
  })

  it('are not guessed from an invalid entry', () => {
    for (const entry of ['10.0.0.0/33', 'http://a.test', 'a b', '', '*', 'a.*', '10.0.0.0/']) {
      assert.throws(() => createAddressRule({ allow: [entry] }), { code: 'INVALID_PARAMS' }, entry)
    }
  })
})
