/** Peers with simple tasks know none of the protocol's parameters: the transport implements them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connect } from '../connect.ts'

describe('a task of a peer with simple tasks', () => {
  it('has the requested length of history', async () => {
    const messages = ['1', '2', '3'].map((text) => ({ role: 'user', parts: [{ type: 'text', text }] }))
    const agent = await connect('https://peer.example', {
      fetch: async (request) =>
        new URL(request.url).pathname === '/.well-known/agent-card.json'
          ? Response.json({ name: 'Peer', version: '1' })
          : Response.json({ id: 't1', state: 'working', messages }),
    })
    const texts = async (historyLength?: number): Promise<unknown> => {
      const { history = [] } = await agent.session.call('GetTask', {
        id: 't1',
        ...(historyLength !== undefined ? { historyLength } : {}),
      })
      return history.map(({ parts: [part] }) => Object(part).text)
    }
    assert.deepEqual(await texts(), ['1', '2', '3'])
    assert.deepEqual(await texts(0), [])
    assert.deepEqual(await texts(2), ['2', '3'])
    for (const length of [3, 4, 5, 100]) assert.deepEqual(await texts(length), ['1', '2', '3'], String(length))
  })
})
