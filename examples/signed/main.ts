/**
 * Authentication, scopes and signed cards: an agent that accepts tokens of an issuer, protects one skill
 * by its scope, and signs its card; and a client that requires the signature.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { memoryStore } from '@parley/a2a'
import { A2AError, connect } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'
import { bearer } from '@parley/a2a/server'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

// Stands in for your identity provider: its metadata, its keys, and the tokens it issues.
const { publicKey, privateKey } = await generateKeyPair('ES256')
const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'id-1', alg: 'ES256' }] }
const provider = createServer((request, response) => {
  const isKeys = request.url === '/keys'
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(isKeys ? keys : { issuer, jwks_uri: `${issuer}/keys` }))
}).listen(0, '127.0.0.1')
await once(provider, 'listening')
const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
const tokenFor = (sub: string, scope: string): Promise<string> =>
  new SignJWT({ scope })
    .setProtectedHeader({ alg: 'ES256', kid: 'id-1' })
    .setIssuer(issuer)
    .setAudience('bank')
    .setSubject(sub)
    .setExpirationTime('5m')
    .sign(privateKey)

const server = await serve({
  name: 'Bank',
  port: 0,
  quiet: true,
  store: memoryStore(),
  hosts: ['127.0.0.1'],
  signing: true,
  authenticate: bearer({ issuer, audience: 'bank' }),
  skills: [
    { id: 'rates', name: 'Rates', description: 'Says what money costs', tags: ['money'] },
    {
      id: 'pay',
      name: 'Pay',
      description: 'Moves money',
      tags: ['money'],
      securityRequirements: [{ schemes: { bearer: { list: ['pay'] } } }],
    },
  ],
  extendedCard: { description: 'As those see it whom the bank knows' },
  agent: ({ text }) => `Done: ${text}.`,
})

const ann = await connect(server.url, { verify: 'require', bearer: await tokenFor('ann', 'pay') })
console.log(`${ann.card.name}: ${ann.signature.status}`)
console.log(await ann.session.call('SendMessage', pay()).then(() => 'ann pays'))
const describeCard = async (agent: typeof ann): Promise<string> =>
  (await agent.extendedCard()).skills.map(({ id }) => id).join(', ')
console.log(`ann may use: ${await describeCard(ann)}`)

const bob = await connect(server.url, { verify: 'require', bearer: await tokenFor('bob', 'read') })
console.log(`bob may use: ${await describeCard(bob)}`)
try {
  await bob.session.call('SendMessage', pay())
} catch (error) {
  if (error instanceof A2AError) console.log(`${error.code}: ${error.message}`)
}

// A card that was changed in transit is detected.
const tamperingFetch = async (request: Request): Promise<Response> => {
  const response = await fetch(request)
  return request.url.endsWith('agent-card.json')
    ? new Response((await response.text()).replaceAll(issuer, 'https://evil.example.com'), response)
    : response
}
try {
  await connect(server.url, { verify: 'require', fetch: tamperingFetch })
} catch (error) {
  if (error instanceof A2AError) console.log(error.message)
}

function pay() {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER' as const, parts: [{ text: 'pay the rent' }] }
  return { message, metadata: { skillId: 'pay' } }
}

await server.close()
provider.close()
