/** Agents of one hub without a listener: their tasks are in a store that may outlive them, as one does whose process ends. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { memoryStore } from '@parley/a2a'
import type { Agent, Caller, Message, Store, Task } from '@parley/a2a'
import { createHandler } from '@parley/a2a/server'
import type { AgentSettings, CallContext, Engine } from '@parley/a2a/server'
import type { House } from '../../agents/kind.ts'
import { withTools } from '../../agents/module/with-tools.ts'
import type { ModuleFunction } from '../../agents/module/with-tools.ts'
import { createHouseCalls } from '../../house-calls.ts'
import type { HouseCallsParts } from '../../house-calls.ts'
import type { Delegation } from '../delegation.ts'
import { testDelegation } from './test-delegation.ts'

export type TestModule = Agent | ModuleFunction | { readonly resume: 'rerun' | 'fail'; readonly run: ModuleFunction }

export interface TestHub {
  readonly engine: Engine
  readonly store: Store
  house(name: string): House
  send(agent: string, text: string, more?: Partial<Message>): Promise<Task>
  /** Answers at once, with the task as it was opened. */
  begin(agent: string, text: string): Promise<Task>
  get(agent: string, id: string, callerId?: string): Promise<Task>
  reaches(agent: string, id: string, state: Task['status']['state'], callerId?: string): Promise<Task>
  /** Goes down in the middle of what it does; its store stays. */
  goDown(): Promise<void>
}

export interface TestHubOptions {
  readonly store?: Store
  readonly delegation?: Delegation
  readonly parts?: Partial<HouseCallsParts>
  /** Made of an agent before the engine gets it. */
  wrap?(name: string, agent: Agent, house: House): Agent
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export async function testHub(
  t: TestContext,
  modules: Readonly<Record<string, TestModule>>,
  {
    store = memoryStore({ leaseTtlMs: 60_000 }),
    delegation,
    parts = {},
    wrap = (_, agent) => agent,
  }: TestHubOptions = {},
): Promise<TestHub> {
  const started = Promise.withResolvers<Engine>()
  const settings: Record<string, AgentSettings> = {}
  const given: HouseCallsParts = {
    engine: () => started.promise,
    names: () => Object.keys(modules),
    settings: (name) => settings[name],
    requireOpen: () => {},
    admitted: () => ({}),
    takeCall: () => {},
    url: (name) => `http://hub.test/a2a/${name}`,
    idempotencyWindowMs: () => 86_400_000,
    now: Date.now,
    delegation: delegation ?? (await testDelegation()),
    ...parts,
  }
  const house = (name: string): House => createHouseCalls(given, name)
  for (const [name, agent] of Object.entries(modules)) {
    settings[name] = { agent: wrap(name, withTools(agent as Agent, house(name), Date.now), house(name)) }
  }
  // What goes down must not close the store that the next one goes on with.
  const kept = Object.assign(Object.create(store) as Store, { close: async () => {} })
  const handler = createHandler({ store: kept, agents: settings, log: silent })
  started.resolve(handler.engine)
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
    mayList: true,
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
    house,
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
    async reaches(agent, id, state, callerId) {
      for (;;) {
        const task = await get(agent, id, callerId)
        if (task.status.state === state) return task
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    },
    async goDown() {
      isDown = true
      await handler.close()
    },
  }
}
