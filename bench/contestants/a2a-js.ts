/** `@a2a-js/sdk` 1.3.0 as its documentation sets it up: Express, and the task store in memory or in SQL. */
import express from 'express'
import type { AddressInfo } from 'node:net'
import { type AgentCard, type Artifact, type Message, Role, type Task, TaskState, type TaskStatus } from 'a2a-sdk-1'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type RequestContext,
} from 'a2a-sdk-1/server'
import { jsonRpcHandler, UserBuilder } from 'a2a-sdk-1/server/express'
import { type AgentName, agentNames, answer, chunkText, pathOf } from '../workload.ts'
import { announcementFeed, readSettings, runContestant } from './child-process.ts'

const { directory, settings } = readSettings()
// What is not used is not loaded: the time of the start is measured.
const stores =
  settings.store === 'memory'
    ? { tasks: new InMemoryTaskStore(), push: new InMemoryPushNotificationStore(), close: async () => {} }
    : await (await import('./a2a-js-store.ts')).openA2aJsStores(directory, settings)

type Execute = (context: RequestContext, bus: ExecutionEventBus) => Promise<void>

const part = (text: string): Artifact['parts'][number] => ({
  content: { $case: 'text', value: text },
  metadata: undefined,
  filename: '',
  mediaType: '',
})
const status = (state: TaskState): TaskStatus => ({ state, message: undefined, timestamp: new Date().toISOString() })

function openTask({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): void {
  const task: Task = {
    id: taskId,
    contextId,
    status: status(TaskState.TASK_STATE_SUBMITTED),
    artifacts: [],
    history: [userMessage],
    metadata: undefined,
  }
  bus.publish(AgentEvent.task(task))
}

function moveTo({ taskId, contextId }: RequestContext, bus: ExecutionEventBus, state: TaskState): void {
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state), metadata: undefined }))
}

interface Chunk {
  readonly id: string
  readonly text: string
  readonly append: boolean
  readonly last: boolean
}

function addChunk({ taskId, contextId }: RequestContext, bus: ExecutionEventBus, chunk: Chunk): void {
  const artifact: Artifact = {
    artifactId: chunk.id,
    name: '',
    description: '',
    parts: [part(chunk.text)],
    metadata: undefined,
    extensions: [],
  }
  const update = { taskId, contextId, artifact, append: chunk.append, lastChunk: chunk.last, metadata: undefined }
  bus.publish(AgentEvent.artifactUpdate(update))
}

function textOf(message: Message): string {
  const content = message.parts[0]?.content
  return content?.$case === 'text' ? content.value : ''
}

const executors: Record<AgentName, Execute> = {
  async message({ contextId }, bus) {
    const message: Message = {
      messageId: crypto.randomUUID(),
      contextId,
      taskId: '',
      role: Role.ROLE_AGENT,
      parts: [part(answer)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    }
    bus.publish(AgentEvent.message(message))
    bus.finished()
  },

  async task(context, bus) {
    openTask(context, bus)
    moveTo(context, bus, TaskState.TASK_STATE_WORKING)
    addChunk(context, bus, { id: 'answer', text: answer, append: false, last: true })
    moveTo(context, bus, TaskState.TASK_STATE_COMPLETED)
    bus.finished()
  },

  async stream(context, bus) {
    const count = Number(textOf(context.userMessage))
    openTask(context, bus)
    moveTo(context, bus, TaskState.TASK_STATE_WORKING)
    for (let index = 0; index < count; index++) {
      addChunk(context, bus, { id: 'answer', text: chunkText(index), append: index > 0, last: index === count - 1 })
    }
    moveTo(context, bus, TaskState.TASK_STATE_COMPLETED)
    bus.finished()
  },

  async announcer(context, bus) {
    openTask(context, bus)
    moveTo(context, bus, TaskState.TASK_STATE_WORKING)
    let append = false
    await new Promise<never>(() => {
      announcementFeed.each((text) => {
        addChunk(context, bus, { id: 'news', text, append, last: false })
        append = true
      })
    })
  },
}

function card(name: AgentName): AgentCard {
  return {
    name,
    description: 'A contestant',
    version: '1.0.0',
    supportedInterfaces: [
      { url: `http://127.0.0.1${pathOf(name)}`, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' },
      { url: '127.0.0.1', protocolBinding: 'GRPC', tenant: '', protocolVersion: '1.0' },
    ],
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: settings.push === true, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  }
}

const app = express()
const handlers = new Map<AgentName, DefaultRequestHandler>()
for (const name of agentNames) {
  const executor: AgentExecutor = { execute: executors[name], cancelTask: async () => {} }
  const sender = settings.push ? new DefaultPushNotificationSender(stores.push) : undefined
  const requestHandler = new DefaultRequestHandler(card(name), stores.tasks, executor, undefined, stores.push, sender)
  handlers.set(name, requestHandler)
  app.use(pathOf(name), jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
}

/** Serves `stream` over gRPC. */
async function openGrpc(): Promise<number> {
  const { Server, ServerCredentials } = await import('@grpc/grpc-js')
  const { A2AService, grpcService, UserBuilder: GrpcUserBuilder } = await import('a2a-sdk-1/server/grpc')
  const requestHandler = handlers.get('stream') as DefaultRequestHandler
  const grpc = new Server()
  grpc.addService(A2AService, grpcService({ requestHandler, userBuilder: GrpcUserBuilder.noAuthentication }))
  return new Promise((resolve, reject) => {
    const done = (reason: Error | null, port: number): void => (reason ? reject(reason) : resolve(port))
    grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), done)
  })
}

const grpcPort = settings.grpc ? await openGrpc() : undefined
const server = app.listen(0, '127.0.0.1', () => {
  runContestant({
    port: (server.address() as AddressInfo).port,
    grpcPort,
    announce: announcementFeed.publish,
    async close() {
      server.closeAllConnections()
      await stores.close()
    },
  })
})
