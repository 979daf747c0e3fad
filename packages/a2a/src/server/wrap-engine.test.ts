import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { connect } from '../client/connect.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { serve, type Server } from './node.ts'

const servers: Server[] = []
after(() => Promise.all(servers.map((server) => server.close())))

it('performs operations of a wrapped engine, for clients of every binding', async () => {
  const server = await serve({
    port: 0,
    store: memoryStore(),
    quiet: true,
    agent: ({ text }) => `own: ${text}`,
    wrapEngine: (own) => ({
      ...own,
      get logPageCounts() {
        return own.logPageCounts
      },
      sendMessage: async ({ message }, context) =>
        message.parts.length > 1
          ? own.sendMessage({ message }, context)
          : { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'elsewhere' }] } },
    }),
  })
  servers.push(server)
  for (const prefer of ['JSONRPC', 'HTTP+JSON']) {
    const agent = await connect(server.url, { prefer: [prefer] })
    assert.equal(await agent.ask('hi'), 'elsewhere')
    assert.equal(await agent.ask([{ text: 'a' }, { text: 'b' }]), 'own: a\nb')
  }
})
