/** Saying who you are: the card says what the agent wants to see and where, and the client puts it there. */
import { memoryStore } from '@parley/a2a'
import { A2AError, connect } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'

const server = await serve({
  name: 'Doorkeeper',
  port: 0,
  store: memoryStore(),
  securitySchemes: {
    token: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Door-Key' } },
  },
  // Either will do.
  securityRequirements: [{ schemes: { token: { list: [] } } }, { schemes: { key: { list: [] } } }],
  authenticate({ header }) {
    if (header('authorization') === 'Bearer open-sesame') return { id: 'tokens|ali' }
    return header('x-door-key') === 'brass' ? { id: 'keys|baba' } : undefined
  },
  agent: ({ caller }) => `Come in, ${caller.id}.`,
})

const byToken = await connect(server.url, { bearer: 'open-sesame' })
console.log(await byToken.ask('Knock'))

// A function is asked for each request, and once more when the agent refuses what it gave.
const vault = { read: async () => 'open-sesame' }
const fresh = await connect(server.url, { bearer: () => vault.read() })
console.log(await fresh.ask('Knock'))

const byKey = await connect(server.url, { apiKey: 'brass' })
console.log(await byKey.ask('Knock'))

try {
  await (await connect(server.url)).ask('Knock')
} catch (error) {
  if (error instanceof A2AError) console.log(`${error.code}: bring ${String(error.details['schemes'])}`)
}

await server.close()
