import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '../model/error.ts'
import type { ChosenInterface } from './contract.ts'
import { tryOtherInterfaces, type InterfaceState } from './fallback.ts'

const at = (version: '1.0' | '0.3', url: string): ChosenInterface => ({
  url,
  protocolBinding: 'JSONRPC',
  protocolVersion: version,
  version,
  why: '',
})

describe('another interface', () => {
  const [first, old, third] = [
    at('1.0', 'http://a.test'),
    at('0.3', 'http://b.test'),
    at('1.0', 'http://c.test'),
  ] as const
  const gone = new A2AError('UNAVAILABLE', 'gone', { reason: 'NETWORK' })
  const notLoaded = new A2AError('UNAVAILABLE', 'no codecs', { reason: 'NOT_LOADED' })
  const interfaces = (...known: ChosenInterface[]): InterfaceState => ({
    candidates: known,
    current: first,
    confirmed: new Set(),
    isPinned: false,
    versions: ['1.0', '0.3'],
    log: { warn() {} },
  })
  const use = async (one: ChosenInterface): Promise<string> => {
    if (one === old) throw notLoaded
    return one.url
  }

  it('is skipped if a page cannot load the code of its version: another may need nothing new', async () => {
    const known = interfaces(first, old, third)
    assert.equal(await tryOtherInterfaces(known, 'GetTask', gone, use), third.url)
    assert.equal(known.current, third)
  })

  it('that cannot be loaded does not determine the error', async () => {
    await assert.rejects(tryOtherInterfaces(interfaces(first, old), 'GetTask', gone, use), gone)
    await assert.rejects(tryOtherInterfaces(interfaces(first, old), 'SendMessage', notLoaded, use), notLoaded)
    const down = () => Promise.reject(gone)
    await assert.rejects(tryOtherInterfaces(interfaces(first, third), 'GetTask', notLoaded, down), gone)
  })

  it('is tried after one whose address is blocked', async () => {
    const blocked = new A2AError('PERMISSION_DENIED', 'private', { reason: 'ADDRESS_BLOCKED' })
    assert.equal(await tryOtherInterfaces(interfaces(first, third), 'SendMessage', blocked, use), third.url)
  })
})
