/** A server of `@a2a-js/sdk` 1.3.0, over all three bindings, with or without its compatibility with 0.3. */
import { Server as GrpcServer } from '@grpc/grpc-js'
import express from 'express'
import { AgentCard, Artifact, Message, Task, TaskStatus } from 'a2a-sdk-1'
import {
  AgentEvent,
  DefaultExecutionEventBusManager,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from 'a2a-sdk-1/server'
import type { AgentExecutor, ExecutionEventBus, RequestContext } from 'a2a-sdk-1/server'
import { LegacyA2AService, legacyGrpcService } from 'a2a-sdk-1/compat/v0_3/server/grpc'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from 'a2a-sdk-1/server/express'
import { A2AService, grpcService } from 'a2a-sdk-1/server/grpc'
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
import type { NamedGates, AgentScript, ScriptOutput } from './agent-script.ts'

/** How its 0.3 REST differs from servers made for 0.3. */
const oldRest = {
  'name files': 'its REST form of a file has no name',
  'set push configs': 'it reads a push config without the envelope that servers of 0.3 require',
} as const

const oldGrpc = { 'name files': 'its proto of a file has no name' } as const

/** `0.3`: served by its compatibility layer, and the client is pinned to it. */
export function sdk1(version: '0.3' | '1.0', binding: Binding): PeerKind {
  return {
    name: `a server of @a2a-js/sdk 1.3.0, ${version} over ${binding}`,
    version,
    binding,
    absent: version === '1.0' ? '0.3' : '0.2',
    options: { ...optionsPreferring(binding), ...(version === '0.3' ? { version } : {}) },
    missingCapabilities: version === '1.0' ? [] : ['list'],
    ...(version === '0.3' && binding !== 'JSONRPC' ? { knownDefects: binding === 'GRPC' ? oldGrpc : oldRest } : {}),
    open: (script) => open(version, script),
  }
}

async function open(version: '0.3' | '1.0', script: AgentScript = defaultScript): Promise<Peer> {
  const unmute = muteConsole()
  const holds = createNamedGates()
  const app = express()
  const server = app.listen(0, '127.0.0.1')
  const url = await listeningUrl(server)
  const legacyCompat = { enabled: version === '0.3' }
  const grpcServer = new GrpcServer()
  const grpcUrl = await listenGrpc(grpcServer)
  const card = cardOf(url, grpcUrl, legacyCompat.enabled)
  const hooks = new InMemoryPushNotificationStore()
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    executorOf(holds, script),
    new DefaultExecutionEventBusManager(),
    hooks,
    new DefaultPushNotificationSender(hooks),
    async () => ({ ...card, description: extendedDescription }),
  )
  const parts = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }))
  app.use('/rpc', jsonRpcHandler(parts))
  app.use('/rest', restHandler(parts))
  grpcServer.addService(A2AService, grpcService(parts))
  if (legacyCompat.enabled) grpcServer.addService(LegacyA2AService, legacyGrpcService(parts))
  return {
    url,
    release: holds.release,
    close() {
      grpcServer.forceShutdown()
      return closeServer(server).finally(unmute)
    },
  }
}

function cardOf(url: string, grpcUrl: string, withOld: boolean): AgentCard {
  const at = (protocolVersion: string) => [
    { url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion },
    { url: `${url}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion },
    { url: grpcUrl, protocolBinding: 'GRPC', protocolVersion },
  ]
  return AgentCard.fromJSON({
    name: agentName,
    description: 'Does what the message says',
    version: '2.1.0',
    supportedInterfaces: [...at('1.0'), ...(withOld ? at('0.3') : [])],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, extensions: [{ uri: mood }] },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'act', name: 'Act', description: 'Plays a part', tags: ['test'] }],
  })
}

function executorOf(holds: NamedGates, script: AgentScript): AgentExecutor {
  const cancels = new Map<string, () => void>()
  return {
    async execute(context, bus) {
      const canceled = Promise.withResolvers<void>()
      cancels.set(context.taskId, canceled.resolve)
      await script(stageOf(context, bus), holds, canceled.promise)
      bus.finished()
    },
    cancelTask: async (taskId) => cancels.get(taskId)?.(),
  }
}

function stageOf({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): ScriptOutput {
  const first = userMessage.parts[0]?.content
  const statusOf = (state: string, text?: string) =>
    TaskStatus.fromJSON({
      state: `TASK_STATE_${state}`,
      timestamp: new Date().toISOString(),
      ...(text !== undefined ? { message: said(text) } : {}),
    })
  const said = (text: string) => ({
    messageId: crypto.randomUUID(),
    role: 'ROLE_AGENT',
    taskId,
    contextId,
    parts: [{ text }],
  })
  const update = (state: string, text?: string) =>
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, text), metadata: undefined }))
  const artifact = (json: object, append: boolean, lastChunk: boolean) => {
    const event = { taskId, contextId, artifact: Artifact.fromJSON(json), append, lastChunk, metadata: undefined }
    bus.publish(AgentEvent.artifactUpdate(event))
  }
  return {
    text: first?.$case === 'text' ? first.value : '',
    contextId,
    isAnswer: task !== undefined,
    open() {
      const begun = Task.fromJSON({ id: taskId, contextId })
      bus.publish(AgentEvent.task(task ?? { ...begun, status: statusOf('SUBMITTED'), history: [userMessage] }))
    },
    working: (text) => update('WORKING', text),
    chunk: (artifactId, text, { append, last }) => artifact({ artifactId, parts: [{ text }] }, append, last),
    showParts() {
      const file = { raw: 'AQL/', filename: 'a.bin', mediaType: 'application/x-a' }
      artifact({ artifactId: 'shown', parts: [{ data: { rows: [1, 2.5], ok: true } }, file] }, false, true)
      const mirrored = userMessage.parts.map((part) => Message.toJSON({ ...userMessage, parts: [part] }) as never)
      artifact({ artifactId: 'mirror', parts: mirrored.flatMap(({ parts }) => parts) }, false, true)
    },
    end: update,
    reply: (text) => bus.publish(AgentEvent.message(Message.fromJSON({ ...said(text), taskId: '' }))),
  }
}
