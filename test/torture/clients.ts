/**
 * Clients that never give up and record everything: streams, polls, sends that are repeated, cancels that race completions,
 * webhooks, lists; beside them clients that disconnect, read slowly or not at all, or send invalid requests.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { A2AError } from '../../packages/a2a/src/model/error.ts'
import { newId } from '../../packages/a2a/src/model/id.ts'
import { isTerminal } from '../../packages/a2a/src/model/state.ts'
import type { Task } from '../../packages/a2a/src/model/task.ts'
import type { TestWire } from '../../packages/a2a/src/testing/test-wire.ts'
import type { SentMessage, SubscriberHistory } from '../cluster/check-history.ts'
import { createRetryingCalls, describeError, finalStateOf, userMessage } from '../cluster/retrying-calls.ts'
import type { Writable } from '../cluster/retrying-calls.ts'
import { openWire } from '../crash/client.ts'
import type { WireOptions } from '../crash/client.ts'
import { heavyMisbehaviors, misbehaviors } from './hub-config.ts'
import { sendHostileBody } from './hostile-bodies.ts'
import type { Recorder } from './recorder.ts'

export interface ClientsOptions {
  readonly url: string
  readonly random: () => number
  readonly recorder: Recorder
  /** The URL of a webhook, by its name. */
  hookUrl(name: string): string
  /** Whether agents that start a Node program are called. */
  readonly isHeavy: boolean
}

const wireOptions: readonly WireOptions[] = (['0.2', '0.3', '1.0'] as const).flatMap((version) =>
  (['JSONRPC', 'HTTP+JSON'] as const).map((binding) => ({ version, binding })),
)
const currentWire: WireOptions = { version: '1.0', binding: 'JSONRPC' }
const silentMs = 4_000

type Scenario = readonly [name: string, share: number, run: () => Promise<unknown>]

export type Clients = ReturnType<typeof createClients>

export function createClients({ url, random, recorder, hookUrl, isHeavy }: ClientsOptions) {
  const onRetry = (reason: string): void => void recorder.retries.set(reason, (recorder.retries.get(reason) ?? 0) + 1)
  const { persist, follow } = createRetryingCalls({ idleTimeoutMs: 5_000, idleTimeoutGrowth: 1.5, onRetry })
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const way = (): WireOptions => pick(wireOptions)
  const upTo = (most: number): number => Math.floor(random() * most)
  const work = (): string => `${10 + upTo(50)} ${2 + upTo(12)}`
  const wire = (agent: string, how: WireOptions): TestWire => openWire(url, agent, how)

  const scenarios: readonly [Scenario, ...Scenario[]] = [
    ['streamed', 5, () => stream('counter', work())],
    ['fragile', 2, () => stream('fragile', work())],
    ['script', 3, () => stream('script', 'go')],
    ['watched', 3, watched],
    ['polled', 4, polled],
    ['canceled', 4, canceled],
    ['asked', 3, asked],
    ['continued', 2, continued],
    ['pushed', 5, pushed],
    ['vanished', 3, vanished],
    ['resent', 3, resent],
    ['listed', 2, listed],
    ['slow reader', 2, () => stream('counter', work(), { onEvent: () => sleep(upTo(60)) })],
    ['silent reader', 1, silent],
    ['hostile body', 2, () => sendHostileBody(url, random)],
    ['rogue agent', 4, rogue],
  ]
  const shares = scenarios.reduce((sum, [, share]) => sum + share, 0)

  return {
    /** So many at a time until stopped; resolves when all are done, with their errors. */
    keepUp(atOnce: number): { stop(): Promise<readonly string[]> } {
      let isOver = false
      const failures: string[] = []
      const all = Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (!isOver) await one().catch((reason: unknown) => failures.push(describeError(reason)))
        }),
      )
      return {
        async stop() {
          isOver = true
          await all
          return failures
        },
      }
    },
  }

  async function one(): Promise<void> {
    let point = random() * shares
    const [name, , run] = scenarios.find(([, share]) => (point -= share) < 0) ?? scenarios[0]
    try {
      await run()
    } catch (reason) {
      throw new Error(name, { cause: reason })
    }
  }

  interface StreamOptions {
    opened?(taskId: string): void
    onEvent?(): void | Promise<void>
    readonly contextId?: string
  }

  /** Streams its own task to the end, over as many connections as needed. */
  async function stream(
    agent: string,
    text: string,
    { opened, onEvent, contextId }: StreamOptions = {},
  ): Promise<string> {
    const message = note()
    const history: Writable<SubscriberHistory> = { subscriber: 'sender', taskId: '', events: [], finished: false }
    const at = wire(agent, way())
    const request = {
      message: { ...userMessage(message.messageId, text), ...(contextId === undefined ? {} : { contextId }) },
    }
    await follow(
      history,
      (signal, last) =>
        last === undefined
          ? at.stream('SendStreamingMessage', request, { signal })
          : at.stream('SubscribeToTask', { id: history.taskId }, { signal, lastEventId: last }),
      (event) => {
        recorder.recordEvent(history.taskId, history.events.at(-1)?.seq ?? 0)
        if ('task' in event && message.taskId === undefined) {
          recorder.acknowledge(message, event.task.id)
          recorder.streams.push(history)
          opened?.(event.task.id)
        }
        return onEvent?.()
      },
    )
    const end = finalStateOf(history)
    if (end !== undefined) message.state = end
    return history.taskId
  }

  async function watch(agent: string, taskId: string, subscriber: string): Promise<void> {
    const history: Writable<SubscriberHistory> = { subscriber, taskId, events: [], finished: false }
    const at = wire(agent, way())
    recorder.streams.push(history)
    try {
      await follow(history, (signal, last) =>
        at.stream('SubscribeToTask', { id: taskId }, last === undefined ? { signal } : { signal, lastEventId: last }),
      )
    } catch (reason) {
      // The task had ended before the first attempt succeeded: there is nothing to watch.
      if (history.events.length > 0 || !isRefused(reason)) throw reason
    }
  }

  async function watched(): Promise<void> {
    const watchers: Promise<void>[] = []
    const opened = (taskId: string): void =>
      void watchers.push(watch('counter', taskId, 'watcher 1'), watch('counter', taskId, 'watcher 2'))
    const taskId = await stream('counter', work(), { opened })
    await Promise.all(watchers)
    await look('counter', taskId, newId())
  }

  interface SendOptions {
    readonly taskId?: string
    readonly contextId?: string
    readonly returnImmediately?: boolean
    readonly hook?: string
    readonly message?: Writable<SentMessage>
    /** One of several sends of the message at the same time: none of them began after another was acknowledged. */
    readonly isConcurrent?: boolean
  }

  /** Sends until there is a response, each time with the same message. A direct Message opens no task. */
  async function send(agent: string, text: string, options: SendOptions = {}): Promise<Task> {
    const { taskId, contextId, returnImmediately = false, hook, message = note(), isConcurrent = false } = options
    const hasOptions = returnImmediately || hook !== undefined
    const at = wire(agent, hasOptions ? currentWire : way())
    const answer = await persist((signal) =>
      at.call(
        'SendMessage',
        {
          message: {
            ...userMessage(message.messageId, text),
            ...(taskId === undefined ? {} : { taskId }),
            ...(contextId === undefined ? {} : { contextId }),
          },
          ...(hasOptions
            ? {
                configuration: {
                  returnImmediately,
                  ...(hook === undefined ? {} : { taskPushNotificationConfig: { id: 'hook', url: hook } }),
                },
              }
            : {}),
        },
        { signal },
      ),
    )
    if (!('task' in answer)) throw new Error('expected a task')
    const { task } = answer
    if (!isConcurrent) recorder.acknowledge(message, task.id)
    if (isTerminal(task.status.state)) message.state = task.status.state
    recorder.show(`sender of ${message.messageId}`, task)
    return task
  }

  async function look(agent: string, id: string, client: string): Promise<Task> {
    const task = await persist((signal) => wire(agent, way()).call('GetTask', { id }, { signal }))
    recorder.show(client, task)
    return task
  }

  async function untilEnd(agent: string, id: string): Promise<Task> {
    const client = `poller ${newId()}`
    for (;;) {
      const task = await look(agent, id, client)
      if (isTerminal(task.status.state)) return task
      await sleep(10 + upTo(120))
    }
  }

  async function polled(): Promise<void> {
    const agent = pick(['counter', 'fragile', 'script'])
    const task = await send(agent, work(), { returnImmediately: true })
    await Promise.all([untilEnd(agent, task.id), untilEnd(agent, task.id)])
  }

  /** Canceled at about the time it completes, by two clients, while two others watch. */
  async function canceled(): Promise<void> {
    const agent = pick(['counter', 'fragile'])
    const numbers = 5 + upTo(20)
    const paceMs = 2 + upTo(10)
    const others: Promise<unknown>[] = []
    const opened = (taskId: string): void => {
      const at = numbers * paceMs * (0.3 + random())
      for (const afterMs of [at, at + upTo(5)]) others.push(sleep(afterMs).then(() => cancel(agent, taskId)))
      others.push(watch(agent, taskId, 'watcher'), untilEnd(agent, taskId))
    }
    await stream(agent, `${numbers} ${paceMs}`, { opened })
    await Promise.all(others)
  }

  async function cancel(agent: string, taskId: string): Promise<void> {
    try {
      const task = await persist((signal) => wire(agent, way()).call('CancelTask', { id: taskId }, { signal }))
      recorder.show(`canceler ${newId()}`, task)
      if (task.status.state === 'TASK_STATE_CANCELED') recorder.cancels.push({ taskId, outcome: 'canceled' })
    } catch (reason) {
      if (!(reason instanceof A2AError) || reason.code !== 'TASK_NOT_CANCELABLE') throw reason
      recorder.cancels.push({ taskId, outcome: 'refused' })
    }
  }

  async function asked(): Promise<void> {
    const { id, status } = await send('asker', 'hello')
    if (status.state !== 'TASK_STATE_INPUT_REQUIRED') throw new Error(`not asked, but ${status.state}`)
    const watching = watch('asker', id, 'watcher')
    await send('asker', 'the answer', { taskId: id }).catch((reason: unknown) => {
      // A hub that restarts with its clock a month ahead ends the wait for input.
      if (!isRefused(reason)) throw reason
    })
    await untilEnd('asker', id)
    await watching
  }

  /** Gets a second message while it works. */
  async function continued(): Promise<void> {
    const more: Promise<unknown>[] = []
    const again = (taskId: string): Promise<unknown> =>
      send('counter', work(), { taskId }).catch((reason: unknown) => {
        // The task had ended before the message arrived.
        if (!isRefused(reason)) throw reason
      })
    await stream('counter', work(), { opened: (taskId) => void more.push(again(taskId)) })
    await Promise.all(more)
  }

  async function pushed(): Promise<void> {
    const agent = pick(['counter', 'fragile', 'script'])
    const name = newId()
    const task = await send(agent, `${5 + upTo(20)} ${2 + upTo(8)}`, { returnImmediately: true, hook: hookUrl(name) })
    recorder.hooks.push({ taskId: task.id, key: `/${name} hook` })
    await untilEnd(agent, task.id)
  }

  /** Aborts a send before its response, or a stream after its first event, and comes back later. */
  async function vanished(): Promise<void> {
    const message = note()
    const text = work()
    const request = { message: userMessage(message.messageId, text) }
    const stop = new AbortController()
    const going = (async () => {
      for await (const { event, id } of wire('counter', way()).stream('SendStreamingMessage', request, {
        signal: stop.signal,
      })) {
        if (!('task' in event)) continue
        recorder.acknowledge(message, event.task.id)
        recorder.recordEvent(event.task.id, Number(id))
      }
    })().catch(() => {})
    await sleep(upTo(60))
    stop.abort()
    await going
    const before = message.taskId
    await sleep(upTo(500))
    const { id } = await send('counter', text, { message })
    if (before !== undefined) recorder.resends.push({ messageId: message.messageId, taskIds: [before, id] })
    await untilEnd('counter', id)
  }

  async function resent(): Promise<void> {
    const message = note()
    const text = work()
    const tasks = await Promise.all([1, 2, 3].map(() => send('counter', text, { message, isConcurrent: true })))
    for (const { id } of tasks) recorder.acknowledge(message, id)
    recorder.resends.push({ messageId: message.messageId, taskIds: tasks.map(({ id }) => id) })
  }

  /** Three tasks of one context, listed in pages of two. */
  async function listed(): Promise<void> {
    const contextId = newId()
    const tasks = [await send('counter', '3 1', { contextId }), await send('counter', '3 1', { contextId })]
    tasks.push(await send('counter', '3 1', { contextId, returnImmediately: true }))
    const pages: string[][] = []
    let pageToken = ''
    do {
      const query = { contextId, pageSize: 2, ...(pageToken === '' ? {} : { pageToken }) }
      const page = await persist((signal) => wire('counter', currentWire).call('ListTasks', query, { signal }))
      pages.push(page.tasks.map(({ id }) => id))
      for (const task of page.tasks) recorder.show(`lister ${contextId}`, task, false)
      pageToken = page.nextPageToken
    } while (pageToken !== '')
    // The third may move between the pages while it runs: its status is what the list is ordered by.
    recorder.listings.push({ contextId, expected: tasks.slice(0, 2).map(({ id }) => id), pages: settledPages(pages) })

    function settledPages(all: readonly (readonly string[])[]): readonly (readonly string[])[] {
      const moving = tasks[2]?.id
      return all.map((page) => page.filter((id) => id !== moving))
    }
  }

  /** Opens a stream and reads nothing of it. */
  async function silent(): Promise<void> {
    const stop = new AbortController()
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: { message: userMessage(newId(), 'flood') },
    })
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
    const response = await fetch(`${url}/a2a/rogue`, { method: 'POST', headers, body, signal: stop.signal }).catch(
      () => {},
    )
    await sleep(silentMs * random())
    stop.abort()
    await response?.body?.cancel().catch(() => {})
  }

  /** Whatever a misbehaving agent does, its task ends and all clients receive the same. */
  async function rogue(): Promise<void> {
    const known = isHeavy ? { ...misbehaviors, ...heavyMisbehaviors } : misbehaviors
    const agent = pick(Object.keys(known))
    const text = pick(known[agent] ?? [''])
    try {
      if (random() < 0.5) await stream(agent, text)
      else await send(agent, text)
    } catch (reason) {
      // An agent that cannot be reached, or fails before it has said anything, may answer with an error.
      if (!(reason instanceof A2AError)) throw reason
    }
  }

  function note(): Writable<SentMessage> {
    const message = { messageId: newId() }
    recorder.sent.push(message)
    return message
  }
}

function isRefused(reason: unknown): boolean {
  return reason instanceof A2AError && reason.code === 'UNSUPPORTED_OPERATION'
}
