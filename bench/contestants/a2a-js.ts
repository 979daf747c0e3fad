/** `@a2a-js/sdk` 1.3.0 as its documentation sets it up: Express, the task store in memory, no push. */
import express from 'express'
import type { AddressInfo } from 'node:net'
import { type AgentCard, type Artifact, type Message, Role, type Task, TaskState, type TaskStatus } from 'a2a-sdk-1'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from 'a2a-sdk-1/server'
import { jsonRpcHandler, UserBuilder } from 'a2a-sdk-1/server/express'
import { type AgentName, agentNames, answer, chunkText, pathOf } from '../workload.ts'
import { announcementFeed, runContestant } from './child-process.ts'

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
    ],
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  }
}

const app = express()
for (const name of agentNames) {
  const executor: AgentExecutor = { execute: executors[name], cancelTask: async () => {} }
  const requestHandler = new DefaultRequestHandler(card(name), new InMemoryTaskStore(), executor)
  app.use(pathOf(name), jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }))
}

const server = app.listen(0, '127.0.0.1', () => {
  runContestant({
    port: (server.address() as AddressInfo).port,
    announce: announcementFeed.publish,
    close: () => server.closeAllConnections(),
  })
})
