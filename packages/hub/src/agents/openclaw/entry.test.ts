import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { openClawEntry } from './entry.ts'

const url = 'ws://127.0.0.1:18789'
const problem = (entry: object): string => {
  const read = openClawEntry.safeParse({ url, ...entry })
  return read.success ? '' : (read.error.issues[0]?.message ?? '')
}

describe('an openclaw entry', () => {
  it('needs no more than a url', () => {
    assert.deepEqual(openClawEntry.parse({ url }), {
      url,
      agent: 'main',
      transport: 'auto',
      approvals: 'none',
      toolCalls: 'names',
      liveSkills: 'skills',
      device: true,
    })
  })

  it('takes the address of either protocol, without a slash at the end', () => {
    assert.equal(openClawEntry.parse({ url: 'https://claw.example.com/' }).url, 'wss://claw.example.com')
    assert.match(problem({ url: 'claw.example.com' }), /such as ws:/)
  })

  it('has one secret, not two', () => {
    assert.match(problem({ token: 'a', password: 'b' }), /must not be set together/)
  })

  it('wants what approvals need', () => {
    assert.match(problem({ approvals: 'caller', device: false }), /device/)
    assert.match(problem({ approvals: 'caller', transport: 'http' }), /WebSocket/)
  })

  it('takes a key of its own, and nothing else for it', () => {
    const device = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    assert.equal(problem({ device }), '')
    assert.notEqual(problem({ device: 'secret' }), '')
  })

  it('refuses fields that it does not know', () => {
    assert.notEqual(problem({ tokn: 'a' }), '')
  })
})
