/**
 * Clients that never give up and record everything: what they sent, the responses, and what their subscriptions
 * received over any number of connections. The checker judges this record.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { A2AError } from '../../packages/a2a/src/model/error.ts'
import { newId } from '../../packages/a2a/src/model/id.ts'
import { isTerminal } from '../../packages/a2a/src/model/state.ts'
import type { TaskState } from '../../packages/a2a/src/model/state.ts'
import type { Task } from '../../packages/a2a/src/model/task.ts'
import type { TestWire } from '../../packages/a2a/src/testing/test-wire.ts'
import { openWire } from '../crash/client.ts'
import type { SentMessage, SubscriberHistory } from './check-history.ts'
import { createRetryingCalls, finalStateOf, userMessage } from './retrying-calls.ts'
import type { Writable } from './retrying-calls.ts'

export interface Load {
  readonly streams: readonly SubscriberHistory[]
  readonly sent: readonly SentMessage[]
  /** The reason of each retry of a call or a stream. */
  readonly retries: readonly string[]
  /** Tasks that have ended. */
  readonly done: number
  /** Starts a task on this replica and resolves when it runs there; it is followed on any replica. */
  place(replicaUrl: string, text: string, agent?: string): Promise<{ readonly ended: Promise<void> }>
  /** A number of tasks, so many at a time. */
  run(tasks: number, atOnce: number): Promise<void>
  /** So many at a time until stopped; resolves when all tasks have ended. */
  keepUp(atOnce: number): { stop(): Promise<void> }
}

export interface LoadOptions {
  readonly url: string
  /** How many numbers, and the milliseconds between them. */
  readonly count: readonly [numbers: number, paceMs: number]
  /** How long one call may wait for a response before it is aborted and retried. */
  readonly idleTimeoutMs?: number
  /** Whether some of the tasks cannot be resumed. */
  readonly fragile?: boolean
  /** Ends all clients with the error of their last attempt, where nothing will answer any more. */
  readonly giveUp?: AbortSignal
}

export function createLoad({ url, count, idleTimeoutMs = 30_000, fragile = false, giveUp }: LoadOptions): Load {
  const streams: Writable<SubscriberHistory>[] = []
  const sent: Writable<SentMessage>[] = []
  const [numbers, paceMs] = count
  const work = `${numbers} ${paceMs}`
  const retries: string[] = []
  const { persist, follow } = createRetryingCalls({
    idleTimeoutMs,
    onRetry: (reason) => void retries.push(reason),
    giveUp,
  })
  let done = 0
  let begun = 0

  const kinds = [
    streamed,
    watched,
    canceled,
    continued,
    asked,
    ...(fragile ? [() => streamed('fragile')] : []),
  ] as const

  return {
    streams,
    sent,
    retries,
    get done() {
      return done
    },
    async place(replicaUrl, text, agent = 'counter') {
      const { promise: atWork, resolve, reject } = Promise.withResolvers<void>()
      const ended = stream(agent, text, { at: replicaUrl, working: resolve })
      ended.catch(reject)
      await atWork
      return { ended }
    },
    async run(tasks, atOnce) {
      const goal = begun + tasks
      await Promise.all(Array.from({ length: atOnce }, () => repeat(() => begun < goal)))
    },
    keepUp(atOnce) {
      let isOver = false
      const over = Promise.all(Array.from({ length: atOnce }, () => repeat(() => !isOver)))
      return {
        async stop() {
          isOver = true
          await over
        },
      }
    },
  }

  async function repeat(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const kind = kinds[begun % kinds.length] as () => Promise<unknown>
      begun += 1
      await kind()
      done += 1
    }
  }

  /** Streams its own task to the end. */
  async function streamed(agent = 'counter'): Promise<void> {
    await stream(agent, work)
  }

  /** Other clients watch it too, each on any replica. */
  async function watched(): Promise<void> {
    const watchers: Promise<void>[] = []
    const opened = (taskId: string): void => {
      watchers.push(watch('counter', taskId, 'watcher 1'), watch('counter', taskId, 'watcher 2'))
    }
    await stream('counter', work, { opened })
    await Promise.all(watchers)
  }

  /** Another client cancels it while it runs. */
  async function canceled(): Promise<void> {
    let canceling: Promise<void> | undefined
    const forever = `100000 ${Math.max(paceMs, 2)}`
    const opened = (taskId: string): void => {
      canceling = sleep(numbers * paceMs * Math.random()).then(() => cancel(taskId))
    }
    await stream('counter', forever, { opened })
    await canceling
  }

  /** Gets a second message while it works. */
  async function continued(): Promise<void> {
    const more: Promise<unknown>[] = []
    await stream('counter', work, { opened: (taskId) => void more.push(send('counter', work, taskId)) })
    await Promise.all(more)
  }

  /** Asks for input and gets an answer; a subscriber watches from before the answer. */
  async function asked(): Promise<void> {
    const { task } = await send('asker', 'hello')
    if (task.status.state !== 'TASK_STATE_INPUT_REQUIRED') throw new Error(`not asked, but ${task.status.state}`)
    const watching = watch('asker', task.id, 'watcher')
    await send('asker', 'the answer', task.id)
    await watching
  }

  interface Streaming {
    /** The replica it is sent to; it is followed on any replica. */
    readonly at?: string
    opened?(taskId: string): void
    /** It has produced output. */
    working?(): void
  }

  async function stream(agent: string, text: string, how: Streaming = {}): Promise<void> {
    const message = note()
    const one: Writable<SubscriberHistory> = { subscriber: 'sender', taskId: '', events: [], finished: false }
    const first = dialled(agent, how.at)
    const wire = dialled(agent)
    const open = (signal: AbortSignal, last: string | undefined): ReturnType<TestWire['stream']> => {
      if (last !== undefined) return wire.stream('SubscribeToTask', { id: one.taskId }, { signal, lastEventId: last })
      return first.stream('SendStreamingMessage', { message: userMessage(message.messageId, text) }, { signal })
    }
    await follow(one, open, (event) => {
      if ('artifactUpdate' in event) how.working?.()
      if (!('task' in event) || message.taskId !== undefined) return
      message.taskId = event.task.id
      streams.push(one)
      how.opened?.(event.task.id)
    })
    message.state = finalStateOf(one) as TaskState
  }

  async function watch(agent: string, taskId: string, subscriber: string): Promise<void> {
    const one: Writable<SubscriberHistory> = { subscriber, taskId, events: [], finished: false }
    const wire = dialled(agent)
    streams.push(one)
    try {
      await follow(one, (signal, last) =>
        wire.stream('SubscribeToTask', { id: taskId }, last === undefined ? { signal } : { signal, lastEventId: last }),
      )
    } catch (reason) {
      // The task had ended before the first attempt succeeded: there is nothing to watch.
      if (one.events.length > 0 || !(reason instanceof A2AError) || reason.code !== 'UNSUPPORTED_OPERATION')
        throw reason
    }
  }

  async function send(agent: string, text: string, taskId?: string): Promise<{ readonly task: Task }> {
    const message = note()
    const request = {
      message: { ...userMessage(message.messageId, text), ...(taskId === undefined ? {} : { taskId }) },
    }
    try {
      const answer = await persist((signal) => dialled(agent).call('SendMessage', request, { signal }))
      if (!('task' in answer)) throw new Error('expected a task')
      message.taskId = answer.task.id
      if (isTerminal(answer.task.status.state)) message.state = answer.task.status.state
      return answer
    } catch (reason) {
      // The task had ended before the message arrived: a valid response.
      const task = { id: taskId, status: { state: 'TASK_STATE_UNSPECIFIED' } } as Task
      if (taskId !== undefined && reason instanceof A2AError && reason.code === 'UNSUPPORTED_OPERATION') return { task }
      throw reason
    }
  }

  async function cancel(taskId: string): Promise<void> {
    await persist(async (signal) => {
      const { status } = await dialled('counter').call('CancelTask', { id: taskId }, { signal })
      if (status.state !== 'TASK_STATE_CANCELED') throw new Error(`canceled, but ${status.state}`)
    })
  }

  function note(): Writable<SentMessage> {
    const message = { messageId: newId() }
    sent.push(message)
    return message
  }

  function dialled(agent: string, at = url): TestWire {
    return openWire(at, agent, { version: '1.0', binding: 'JSONRPC' })
  }
}
