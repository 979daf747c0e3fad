/** Our client against our own server, in every version and over every binding. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { everyOperation } from './operations.ts'
import { openParleyServer, parleyServer } from './parley-server.ts'
import { bindings, optionsPreferring } from './peer.ts'
import type { Peer } from './peer.ts'

const versions = ['0.2', '0.3', '1.0'] as const

for (const version of versions) for (const binding of bindings) everyOperation(parleyServer(version, binding))

describe('our client and our server with all its versions', () => {
  let peer: Peer
  before(async () => {
    peer = await openParleyServer(versions)
  })
  after(() => peer.close())
  const { options } = parleyServer('1.0', 'JSONRPC')

  it('use the newest version, over the first binding of the card [B-17]', async () => {
    const agent = await connect(peer.url, { ...options, prefer: [] })
    assert.deepEqual([agent.interface.version, agent.interface.protocolBinding], ['1.0', 'JSONRPC'])
  })

  for (const version of versions) {
    for (const binding of bindings) {
      it(`use ${version} over ${binding} if configured [B-9]`, async () => {
        const agent = await connect(peer.url, { ...options, version, ...optionsPreferring(binding) })
        assert.deepEqual([agent.interface.version, agent.interface.protocolBinding], [version, binding])
        assert.equal(await agent.ask('say hello'), 'hello ')
        assert.equal(await agent.stream('say hello').text(), 'hello ')
      })
    }
  }
})
