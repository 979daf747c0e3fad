/** A server without a socket and its trace index, for the tests of this module. */
import type { TestContext } from 'node:test'
import { memoryStore, newId, type Agent, type AgentLog, type Task } from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import type { FullStore } from '@parley/a2a/stores'
import { createHandler, type CallContext, type HandlerOptions } from '@parley/a2a/server'
import type { TraceSpan } from '../traces/trace-types.ts'
import { createTraceIndex, type TraceIndexDeps } from '../traces/trace-index.ts'
import { createTraces } from '../traces/traces.ts'

export const silentLog: AgentLog = { debug() {}, info() {}, warn() {}, error() {} }

export interface TracedServerOptions extends Partial<Pick<HandlerOptions, 'push' | 'retention'>> {
  readonly store?: FullStore
  readonly index?: Partial<TraceIndexDeps>
}

export interface SendOptions extends Partial<CallContext> {
  readonly text?: string
  readonly taskId?: string
  readonly referenceTaskIds?: readonly string[]
  readonly returnImmediately?: boolean
  readonly webhook?: string
}

export async function openTracedServer(
  t: TestContext,
  agents: Readonly<Record<string, Agent>>,
  { store = memoryStore(), index: more = {}, ...options }: TracedServerOptions = {},
) {
  const handler = createHandler({ agents, store, log: silentLog, ...options })
  await handler.ready
  const ended: TraceSpan[] = []
  const index = createTraceIndex({
    store,
    kv: store.kv,
    log: silentLog,
    now: Date.now,
    onSpanEnded: (span) => void ended.push(span),
    ...more,
  })
  t.after(async () => {
    await index.close()
    await handler.close()
  })
  const { engine } = handler

  async function send(agent: string, sending: SendOptions = {}): Promise<Task> {
    const { text = 'go', taskId, referenceTaskIds, returnImmediately = false, webhook, ...context } = sending
    const message = {
      messageId: newId(),
      role: 'ROLE_USER' as const,
      parts: [{ text }],
      ...omitUndefined({ taskId, referenceTaskIds }),
    }
    const configuration = {
      returnImmediately,
      ...(webhook !== undefined ? { taskPushNotificationConfig: { id: 'hook', url: webhook } } : {}),
    }
    const answer = await engine.sendMessage({ message, configuration }, { ...contextFor(agent), ...context })
    if (!('task' in answer)) throw new Error('expected a task')
    return answer.task
  }

  return {
    handler,
    engine,
    store,
    index,
    ended,
    send,
    traces: createTraces({ store, kv: store.kv, index }),
  }
}

export function contextFor(agent: string): CallContext {
  return {
    agent,
    tenant: '',
    caller: { id: 'ann' },
    signal: new AbortController().signal,
    extensions: [],
    canListTasks: false,
    push: { version: '1.0', triggers: 'all' },
  }
}

/** Checks again and again; the guard says what it waited for. */
export async function eventually(holds: () => boolean | Promise<boolean>, what = String(holds)): Promise<void> {
  const giveUpAt = performance.now() + 120_000
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`timed out waiting for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
