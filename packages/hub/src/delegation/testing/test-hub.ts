/** Agents of one hub without a listener. Their tasks are in a store that may outlive them, as after the end of a process. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { memoryStore, type Agent, type Caller, type Message, type Task } from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'
import type { Engine, HandlerCall } from '@parley/a2a/internal'
import { createHandler, type AgentSettings, type CallContext } from '@parley/a2a/server'
import type { InProcessClient } from '../../agents/kind.ts'
import { withTools, type ModuleFunction } from '../../agents/module/with-tools.ts'
import { createInProcessClient, type InProcessClientDeps } from '../in-process-client.ts'
import type { Delegation } from '../delegation.ts'
import { createTestDelegation } from './test-delegation.ts'

export type TestModule = Agent | ModuleFunction | { readonly resume: 'rerun' | 'fail'; readonly run: ModuleFunction }

export interface TestHub {
  readonly engine: Engine
  readonly store: Store
  inProcessClient(name: string): InProcessClient
  send(agent: string, text: string, more?: Partial<Message>): Promise<Task>
  /** Returns at once, with the task as it was opened. */
  begin(agent: string, text: string): Promise<Task>
  get(agent: string, id: string, callerId?: string): Promise<Task>
  waitForState(agent: string, id: string, state: Task['status']['state'], callerId?: string): Promise<Task>
  /** Stops in the middle of its work; its store stays open. */
  shutDown(): Promise<void>
}

export interface TestHubOptions {
  readonly store?: Store
  readonly delegation?: Delegation
  readonly parts?: Partial<InProcessClientDeps>
  /** Wraps an agent before the engine gets it. */
  wrap?(name: string, agent: Agent, inProcessClient: InProcessClient): Agent
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export async function createTestHub(
  t: TestContext,
  modules: Readonly<Record<string, TestModule>>,
  {
    store = memoryStore({ leaseTtlMs: 60_000 }),
    delegation,
    parts = {},
    wrap = (_, agent) => agent,
  }: TestHubOptions = {},
): Promise<TestHub> {
  const started = Promise.withResolvers<HandlerCall>()
  const settings: Record<string, AgentSettings> = {}
  const given: InProcessClientDeps = {
    handlerCall: () => started.promise,
    names: () => Object.keys(modules),
    settings: (name) => settings[name],
    requireOpen: () => {},
    permissionFor: () => ({}),
    countCall: () => {},
    url: (name) => `http://hub.test/a2a/${name}`,
    idempotencyWindowMs: () => 86_400_000,
    now: Date.now,
    delegation: delegation ?? (await createTestDelegation()),
    ...parts,
  }
  const inProcessClient = (name: string): InProcessClient => createInProcessClient(given, name)
  for (const [name, agent] of Object.entries(modules)) {
    settings[name] = {
      agent: wrap(name, withTools(agent as Agent, inProcessClient(name), Date.now), inProcessClient(name)),
    }
  }
  // Shutting down must not close the store that the next hub uses.
  const kept = Object.assign(Object.create(store) as Store, { close: async () => {} })
  const handler = createHandler({ store: kept, agents: settings, log: silent })
  started.resolve(handler.call)
  await handler.ready
  let isDown = false
  t.after(async () => {
    if (!isDown) await handler.close()
  })

  const contextOf = (agent: string, caller: Caller = { id: 'me' }): CallContext => ({
    agent,
    tenant: '',
    caller,
    signal: new AbortController().signal,
    extensions: [],
    canListTasks: true,
  })
  const messageOf = (text: string, more: Partial<Message>): Message => ({
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    parts: [{ text }],
    ...more,
  })
  const get = (agent: string, id: string, callerId = 'me'): Promise<Task> =>
    handler.engine.getTask({ id }, contextOf(agent, { id: callerId }))

  return {
    engine: handler.engine,
    store,
    inProcessClient,
    async send(agent, text, more = {}) {
      const answer = await handler.engine.sendMessage({ message: messageOf(text, more) }, contextOf(agent))
      assert.ok('task' in answer, 'it answered with a message')
      return answer.task
    },
    async begin(agent, text) {
      const request = { message: messageOf(text, {}), configuration: { returnImmediately: true } }
      const answer = await handler.engine.sendMessage(request, contextOf(agent))
      assert.ok('task' in answer)
      return answer.task
    },
    get,
    async waitForState(agent, id, state, callerId) {
      for (;;) {
        const task = await get(agent, id, callerId)
        if (task.status.state === state) return task
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    },
    async shutDown() {
      isDown = true
      await handler.close()
    },
  }
}
