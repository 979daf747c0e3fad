/** A server of `@a2a-js/sdk` 1.3.0 that requires a bearer token, as its own example does it. */
import express from 'express'
import { AgentCard } from 'a2a-sdk-1'
import { DefaultRequestHandler, InMemoryTaskStore } from 'a2a-sdk-1/server'
import { agentCardHandler, jsonRpcHandler } from 'a2a-sdk-1/server/express'
import { closeServer, listeningUrl, muteConsole } from '../client/peer.ts'

export const token = 'conformance-token'

export async function openSecuredSdk1(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const unmute = muteConsole()
  const app = express()
  const server = app.listen(0, '127.0.0.1')
  const url = await listeningUrl(server)
  const card = AgentCard.fromJSON({
    name: 'Secured',
    description: 'Requires a token',
    version: '1.0.0',
    supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: false },
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'act', name: 'Act', description: 'Acts', tags: ['test'] }],
  })
  const executor = { execute: async () => {}, cancelTask: async () => {} }
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
  const userBuilder = async (request: { readonly headers: Readonly<Record<string, unknown>> }) => {
    if (request.headers['authorization'] !== `Bearer ${token}`) throw new Error('invalid token')
    return { isAuthenticated: true, userName: 'ann' }
  }
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }))
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: userBuilder as never }))
  return { url, close: () => closeServer(server).finally(unmute) }
}
