/** A server of `@a2a-js/sdk` 0.3.14, over all three bindings. */
import { Server as GrpcServer } from '@grpc/grpc-js'
import express from 'express'
import type { AgentCard } from 'a2a-sdk-0.3'
import {
  DefaultExecutionEventBusManager,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from 'a2a-sdk-0.3/server'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from 'a2a-sdk-0.3/server/express'
import { A2AService, grpcService } from 'a2a-sdk-0.3/server/grpc'
import { legacyScriptOutput } from './legacy-script-output.ts'
import {
  agentName,
  closeServer,
  extendedDescription,
  listeningUrl,
  listenGrpc,
  mood,
  muteConsole,
  optionsPreferring,
} from './peer.ts'
import type { Binding, Peer, PeerKind } from './peer.ts'
import { createNamedGates, defaultScript } from './agent-script.ts'
import type { AgentScript } from './agent-script.ts'

const nameless = { 'name files': 'its proto of a file has no name' } as const
const nulls = { 'keep a null': 'it reads the null of a protobuf as 0' } as const

export const sdk03 = (binding: Binding): PeerKind => ({
  name: `a server of @a2a-js/sdk 0.3.14 over ${binding}`,
  version: '0.3',
  binding,
  absent: '1.0',
  options: optionsPreferring(binding),
  missingCapabilities: ['list'],
  ...(binding === 'JSONRPC' ? {} : { knownDefects: binding === 'GRPC' ? { ...nameless, ...nulls } : nameless }),
  open,
})

async function open(script: AgentScript = defaultScript): Promise<Peer> {
  const unmute = muteConsole()
  const holds = createNamedGates()
  const cancels = new Map<string, () => void>()
  const app = express()
  const server = app.listen(0, '127.0.0.1')
  const url = await listeningUrl(server)
  const grpcServer = new GrpcServer()
  const grpcUrl = await listenGrpc(grpcServer)
  const card = cardOf(url, grpcUrl)
  const hooks = new InMemoryPushNotificationStore()
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    {
      async execute(context, bus) {
        const canceled = Promise.withResolvers<void>()
        cancels.set(context.taskId, canceled.resolve)
        await script(
          legacyScriptOutput(context, (event) => bus.publish(event)),
          holds,
          canceled.promise,
        )
        bus.finished()
      },
      cancelTask: async (taskId) => cancels.get(taskId)?.(),
    },
    new DefaultExecutionEventBusManager(),
    hooks,
    new DefaultPushNotificationSender(hooks),
    async () => ({ ...card, description: extendedDescription }),
  )
  const parts = { requestHandler, userBuilder: UserBuilder.noAuthentication }
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }))
  app.use('/rpc', jsonRpcHandler(parts))
  app.use('/rest', restHandler(parts))
  grpcServer.addService(A2AService, grpcService(parts))
  return {
    url,
    release: holds.release,
    close() {
      grpcServer.forceShutdown()
      return closeServer(server).finally(unmute)
    },
  }
}

function cardOf(url: string, grpcUrl: string): AgentCard {
  return {
    name: agentName,
    description: 'Does what the message says',
    version: '2.1.0',
    protocolVersion: '0.3.0',
    url: `${url}/rpc`,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [
      { url: `${url}/rpc`, transport: 'JSONRPC' },
      { url: `${url}/rest`, transport: 'HTTP+JSON' },
      { url: grpcUrl, transport: 'GRPC' },
    ],
    capabilities: { streaming: true, pushNotifications: true, extensions: [{ uri: mood }] },
    supportsAuthenticatedExtendedCard: true,
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'act', name: 'Act', description: 'Plays a part', tags: ['test'] }],
  }
}
