/** One remote agent behind a proxy agent, without the rest of a hub: what a caller sees, and what is logged. */
import type { TestContext } from 'node:test'
import { memoryStore, type Caller, type Task } from '@parley/a2a'
import { memoryKeyValueStore, type KeyValueStore } from '@parley/a2a/stores'
import { clearCardCache } from '@parley/a2a/client'
import { testAgent, type TestAgent, type TestAgentOptions } from '@parley/a2a/testing'
import { a2aKind } from '../../packages/hub/src/agents/a2a/index.ts'
import type { AgentServices, OpenAgent } from '../../packages/hub/src/agents/kind.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import type { LoggedLine } from '../../packages/hub/src/agents/testing/test-agent-services.ts'

export interface ProxyFixture {
  readonly agent: TestAgent
  readonly opened: OpenAgent
  readonly lines: readonly LoggedLine[]
  /** The same store and key-value data, opened by a new hub after this one was closed. */
  restart(): Promise<ProxyFixture>
  /** The same hub, called by another caller. */
  as(caller: Caller): TestAgent
  close(): Promise<void>
}

export interface ProxyFixtureOptions {
  readonly entry?: Record<string, unknown>
  readonly services?: Partial<AgentServices>
  readonly test?: TestAgentOptions
}

export async function openProxyFixture(
  t: TestContext,
  url: string,
  options: ProxyFixtureOptions = {},
): Promise<ProxyFixture> {
  clearCardCache()
  // A hub closes its store when it stops; here the next one continues with the content.
  const store = { ...memoryStore({ leaseTtlMs: 60_000 }), close: async () => {} }
  return open(t, url, options, options.test?.store ?? store, memoryKeyValueStore())
}

async function open(
  t: TestContext,
  url: string,
  options: ProxyFixtureOptions,
  store: TestAgentOptions['store'] & object,
  kv: KeyValueStore,
): Promise<ProxyFixture> {
  const lent = testAgentServices({ kv, ...options.services })
  const entry = a2aKind.schema.parse({ url, allowPrivate: true, pollEvery: '20ms', ...options.entry })
  const opened = await a2aKind.open(entry, lent)
  const callers: TestAgent[] = []
  const seenBy = (caller: Caller): TestAgent => {
    const agent = testAgent(opened.agent, {
      openAfterMs: 20,
      ...options.test,
      store,
      caller,
      server: { log: lent.log, ...options.test?.server },
    })
    callers.push(agent)
    return agent
  }
  let isClosed = false
  const close = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    for (const caller of callers) await caller.close()
    await opened.close?.()
  }
  t.after(close)
  return {
    agent: seenBy({ id: 'alice' }),
    opened,
    lines: lent.lines,
    async restart() {
      await close()
      return open(t, url, options, store, kv)
    },
    as: seenBy,
    close,
  }
}

export function textOf({ artifacts = [] }: Task): string {
  return artifacts
    .flatMap(({ parts }) => parts)
    .map((part) => ('text' in part ? part.text : ''))
    .join('')
}

export function statusOf({ status: { state, message } }: Task): string {
  const words = (message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')
  return `${state.replace('TASK_STATE_', '')}${words === '' ? '' : `: ${words}`}`
}
