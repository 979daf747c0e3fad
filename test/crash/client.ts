/**
 * A client that does not give up: it streams a task to its end across any number of deaths of the server, resuming
 * after the last event it has seen, and records everything it received.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventFrame } from '../../packages/a2a/src/client/contract.ts'
import { A2AError } from '../../packages/a2a/src/model/error.ts'
import { newId } from '../../packages/a2a/src/model/id.ts'
import { isTerminal } from '../../packages/a2a/src/model/state.ts'
import type { TaskState } from '../../packages/a2a/src/model/state.ts'
import type { StreamEvent, Task } from '../../packages/a2a/src/model/task.ts'
import { testWire } from '../../packages/a2a/src/testing/test-wire.ts'
import type { TestWire } from '../../packages/a2a/src/testing/test-wire.ts'
import { versionOf } from '../../packages/a2a/src/versions/index.ts'
import type { VersionId } from '../../packages/a2a/src/versions/index.ts'

export interface StreamHistory {
  readonly agent: string
  readonly taskId: string
  /** Each event with the id it came under, in the order it came. */
  readonly events: readonly { readonly id: number; readonly event: StreamEvent }[]
  readonly state: TaskState
  readonly resumptions: number
}

export interface WireOptions {
  readonly version: VersionId
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
}

export function openWire(url: string, agent: string, { version, binding }: WireOptions): TestWire {
  return testWire({ url: `${url}/a2a/${agent}`, version: versionOf(version), binding, fetch })
}

/** Retries while the server is down or the connection breaks. Protocol errors are results. */
export async function retryUntilAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await call()
    } catch (reason) {
      if (
        (reason instanceof A2AError && !reason.retryable && reason.code !== 'INVALID_AGENT_RESPONSE') ||
        tries > 8_000
      )
        throw reason
      await sleep(15)
    }
  }
}

export async function streamToEnd(url: string, agent: string, text: string, how: WireOptions): Promise<StreamHistory> {
  const messageId = newId()
  const events: { id: number; event: StreamEvent }[] = []
  let taskId: string | undefined
  let state: TaskState = 'TASK_STATE_UNSPECIFIED'
  let resumptions = 0
  const wire = openWire(url, agent, how)
  await retryUntilAnswered(async () => {
    const before = events.length
    for await (const item of open()) take(item)
    if (before > 0) resumptions += 1
    if (!isTerminal(state)) throw new A2AError('INTERRUPTED', `the stream ended in ${state}`)
  })
  return { agent, taskId: taskId as unknown as string, events, state, resumptions }

  function open(): AsyncGenerator<EventFrame> {
    const last = events.at(-1)?.id
    // Until the first event arrives, the message may or may not have been accepted: sending it again is safe either way.
    if (taskId === undefined || last === undefined) {
      return wire.stream('SendStreamingMessage', { message: { messageId, role: 'ROLE_USER', parts: [{ text }] } })
    }
    return wire.stream('SubscribeToTask', { id: taskId }, { lastEventId: String(last) })
  }

  function take({ event, id }: EventFrame): void {
    events.push({ id: Number(id), event })
    if ('task' in event) taskId = event.task.id
    const status = 'task' in event ? event.task.status : 'statusUpdate' in event ? event.statusUpdate.status : undefined
    if (status !== undefined) state = status.state
  }
}

/** Sends and waits, repeatedly with the same messageId until there is a response; answers a question if the agent asks one. */
export async function sendToEnd(url: string, agent: string, text: string, how: WireOptions): Promise<Task> {
  const wire = openWire(url, agent, how)
  const first = newId()
  const asked = await retryUntilAnswered(() => send(wire, first, text))
  if (asked.status.state !== 'TASK_STATE_INPUT_REQUIRED') return asked
  const second = newId()
  return retryUntilAnswered(() => send(wire, second, 'the answer', asked.id))
}

async function send(wire: TestWire, messageId: string, text: string, taskId?: string): Promise<Task> {
  const result = await wire.call('SendMessage', {
    message: { messageId, role: 'ROLE_USER', parts: [{ text }], ...(taskId !== undefined ? { taskId } : {}) },
  })
  if (!('task' in result)) throw new Error('expected a task')
  return result.task
}
