import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { describe, it } from 'node:test'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import { deviceFromKey, isDeviceKey, loadDevice, createDeviceTokens, signDeviceProof } from './device.ts'

describe('the device that a hub is', () => {
  it('stays the same, also where two make it at the same time', async () => {
    const kv = memoryKeyValueStore()
    const [first, second] = await Promise.all([loadDevice(kv), loadDevice(kv)])
    assert.equal(first.id, second.id)
    assert.equal((await loadDevice(kv)).id, first.id)
    assert.notEqual((await loadDevice(memoryKeyValueStore())).id, first.id)
  })

  it('is known by the hash of its key, and signs what it says', async () => {
    const device = await loadDevice(memoryKeyValueStore())
    const raw = Buffer.from(device.publicKey, 'base64url')
    assert.equal(raw.length, 32)
    assert.match(device.id, /^[0-9a-f]{64}$/)
    const proof = signDeviceProof(device, {
      clientId: 'c',
      clientMode: 'm',
      role: 'operator',
      scopes: ['a', 'b'],
      platform: 'linux',
      token: 'T',
      nonce: 'N',
      signedAt: 5,
    })
    const text = `v3|${device.id}|c|m|operator|a,b|5|T|N|linux|`
    const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw])
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    assert.ok(verify(null, Buffer.from(text), key, Buffer.from(String(proof['signature']), 'base64url')))
    assert.deepEqual(Object.keys(proof), ['id', 'publicKey', 'signature', 'signedAt', 'nonce'])
  })

  it('may be given', () => {
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    assert.equal(deviceFromKey(pem).id, deviceFromKey(pem).id)
    assert.ok(isDeviceKey(pem))
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
    assert.ok(!isDeviceKey(rsa.export({ type: 'pkcs8', format: 'pem' }).toString()))
    assert.ok(!isDeviceKey('no key'))
  })

  it('keeps the token that each gateway gave it', async () => {
    const tokens = createDeviceTokens(memoryKeyValueStore())
    assert.equal(await tokens.read('ws://a'), undefined)
    await tokens.keep('ws://a', 'T')
    assert.equal(await tokens.read('ws://a'), 'T')
    assert.equal(await tokens.read('ws://b'), undefined)
    await tokens.forget('ws://a')
    assert.equal(await tokens.read('ws://a'), undefined)
  })
})
