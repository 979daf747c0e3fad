import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentCard } from '@parley/a2a'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import { cardFingerprint, createCardWatch, toPartialCard } from './card-watch.ts'
import { a2aEntry } from './entry.ts'

const card: AgentCard = {
  name: 'Partner',
  description: 'Helps',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'https://p.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'a', name: 'A', description: 'A', tags: [] }],
}
const signature = { status: 'unsigned' } as const
const seen = (over: Partial<AgentCard> = {}) => ({ card: { ...card, ...over }, signature })

function open(given: object = {}, kv = memoryKeyValueStore()) {
  const warned: unknown[] = []
  let noticed = 0
  const quiet = { debug() {}, info() {}, error() {}, warn: (...all: unknown[]) => void warned.push(all) }
  const entry = a2aEntry.parse({ url: 'https://p.example', ...given })
  const watch = createCardWatch(entry, { kv, now: () => 5, log: quiet, notifyChange: () => void (noticed += 1) })
  return { watch, warned, kv, noticed: () => noticed }
}

describe('a remote card', () => {
  it('is known by what it says, in whatever order, and not by who signed it', () => {
    const { name, ...rest } = card
    assert.equal(cardFingerprint({ ...rest, name }), cardFingerprint(card))
    assert.equal(cardFingerprint({ ...card, signatures: [{ protected: 'x', signature: 'y' }] }), cardFingerprint(card))
    assert.notEqual(cardFingerprint({ ...card, version: '1.0.1' }), cardFingerprint(card))
  })

  it('is approved when it is the first, and raises one alert when it is another', async () => {
    const { watch, warned, noticed } = open()
    assert.equal(await watch.observe(seen()), true)
    assert.deepEqual((await watch.state()).signature, signature)
    assert.equal(await watch.observe(seen({ version: '2.0.0' })), true)
    await watch.observe(seen({ version: '2.0.0' }))
    assert.deepEqual([warned.length, noticed()], [1, 1])
    assert.deepEqual((await watch.state()).changed?.fields, ['version'])
  })

  it('says which skills are otherwise', async () => {
    const { watch } = open()
    await watch.observe(seen())
    const skills = [
      { id: 'a', name: 'A', description: 'Another', tags: [] },
      { id: 'b', name: 'B', description: 'B', tags: [] },
    ]
    await watch.observe(seen({ skills }))
    assert.deepEqual((await watch.state()).changed?.fields, ['skills.a', 'skills.b'])
  })

  it('is blocked until it is approved, also after the agent is opened again', async () => {
    const { watch, kv } = open({ drift: 'block' })
    await watch.observe(seen())
    assert.equal(await watch.observe(seen({ version: '2.0.0' })), false)
    const again = open({ drift: 'block' }, kv).watch
    assert.equal(await again.observe(seen({ version: '2.0.0' })), false)
    assert.equal((await again.approved())?.version, '1.0.0')
    const { fingerprint = '' } = (await again.state()).changed ?? {}
    assert.equal(await again.approve('another'), false)
    assert.equal(await again.approve(fingerprint), true)
    assert.equal(await watch.observe(seen({ version: '2.0.0' })), true)
    assert.equal((await watch.state()).changed, undefined)
  })

  it('is as it was when it is again what was approved', async () => {
    const { watch } = open({ drift: 'block' })
    await watch.observe(seen())
    await watch.observe(seen({ version: '2.0.0' }))
    assert.equal(await watch.observe(seen()), true)
    assert.equal((await watch.state()).changed, undefined)
  })

  it('of another address is another one, and the first there', async () => {
    const { watch, kv } = open({ drift: 'block' })
    await watch.observe(seen())
    const moved = open({ drift: 'block', url: 'https://elsewhere.example' }, kv).watch
    assert.equal(await moved.observe(seen({ version: '9.0.0' })), true)
  })
})

const remoteCard: AgentCard = {
  name: 'Oracle',
  description: '',
  version: '1.2.0',
  supportedInterfaces: [{ url: 'https://o.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: false },
  securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
  securityRequirements: [{ schemes: { key: { list: [] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: [],
  skills: [{ id: 'ask', name: 'Ask', description: 'Asks', tags: ['a'], securityRequirements: [{ schemes: {} }] }],
  signatures: [{ protected: 'x', signature: 'y' }],
}

describe('the part of a remote card that is true of ours', () => {
  it('is what it can do, without where it is, who may call it and who vouches for it [B-34]', () => {
    assert.deepEqual(toPartialCard(remoteCard), {
      name: 'Oracle',
      version: '1.2.0',
      skills: [{ id: 'ask', name: 'Ask', description: 'Asks', tags: ['a'] }],
      inputModes: ['text/plain'],
    })
  })
})
