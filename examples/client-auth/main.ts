/** Authentication: the card declares the required credentials and where they go, and the client sends them there. */
import { memoryStore } from '@parley/a2a'
import { A2AError, connect } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'

const server = await serve({
  name: 'Protected agent',
  port: 0,
  quiet: true,
  store: memoryStore(),
  securitySchemes: {
    token: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
  },
  // Either is accepted.
  securityRequirements: [{ schemes: { token: { list: [] } } }, { schemes: { key: { list: [] } } }],
  authenticate({ header }) {
    if (header('authorization') === 'Bearer open-sesame') return { id: 'tokens|ali' }
    return header('x-api-key') === 'brass' ? { id: 'keys|baba' } : undefined
  },
  agent: ({ caller }) => `Hello, ${caller.id}.`,
})

const byToken = await connect(server.url, { bearer: 'open-sesame' })
console.log(await byToken.ask('Hello'))

// A function is called for each request, and once more after a 401.
const vault = { read: async () => 'open-sesame' }
const fresh = await connect(server.url, { bearer: () => vault.read() })
console.log(await fresh.ask('Hello'))

const byKey = await connect(server.url, { apiKey: 'brass' })
console.log(await byKey.ask('Hello'))

try {
  await (await connect(server.url)).ask('Hello')
} catch (error) {
  if (error instanceof A2AError) console.log(`${error.code}: requires ${String(error.details['schemes'])}`)
}

await server.close()
