/** Slowness alone is no evidence: the judge accuses no agent that does late what it does, and decides nothing by silence. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { ConformanceOptions } from '@parley/cli/conformance'
import { manualTimers } from '../outside-fixtures.ts'
import type { FaultServerOptions, Intercept } from './fault-server.ts'
import { delivered } from './faults/push-faults.ts'
import { judgeFault } from './judge-fault.ts'
import { answer, editEvents, rpcError, rpcResult, type Json } from './wire-edits.ts'

interface SlowAgent extends FaultServerOptions {
  readonly slow: string
  /** What the judge concludes of each check. */
  readonly verdicts: Readonly<Record<string, string>>
  readonly options?: ConformanceOptions
}

/** No timer of another kind has this length, and the agents decide when it is over. */
const limitMs = 61_234
const timers = manualTimers(limitMs)
after(() => timers.restore())
const expire = (): void => timers.pass(limitMs)

const taskIdIn = (text: string): string => /"(?:taskId|id)":"([^"]+)"/.exec(text)?.[1] ?? ''
const isEnd = (event: Json): boolean =>
  /COMPLETED|CANCELED/.test(JSON.stringify(event.statusUpdate ?? event.task ?? ''))

/** The end of the task, if the stream `holds` it, and the end of the stream wait for the next ordinary message to the agent. */
function untilNextMessage(operation: string, holds: (event: Json) => boolean = () => false): Intercept {
  const message = Promise.withResolvers<void>()
  const edit = editEvents(operation, async function* (events) {
    for await (const event of events) {
      if (holds(event)) await message.promise
      yield event
    }
    await message.promise
  })
  const notice = answer('SendMessage', ({ params }) => {
    if (JSON.stringify(params.message.parts).includes('conformance test')) message.resolve()
    return undefined
  })
  return (request, next) => edit(request, (changed) => notice(changed, next))
}

/** Sends an earlier event to the deleted webhook after the other one has received the end. */
function lateAfterDelete(): Pick<SlowAgent, 'intercept' | 'webhook'> {
  const urls = new Map<string, string>()
  let deleted: string | undefined
  return {
    intercept: answer(['CreateTaskPushNotificationConfig', 'DeleteTaskPushNotificationConfig'], ({ params }) => {
      if (params.url === undefined) deleted = urls.get(params.id)
      else urls.set(params.id, params.url)
      return undefined
    }),
    webhook: async (request, next) => {
      const body = await request.text()
      const send = (url: string, text: string): Promise<Response> =>
        next(new Request(url, { method: 'POST', headers: request.headers, body: text }))
      const response = await send(request.url, body)
      if (body.includes('CANCELED') && deleted !== undefined) await send(deleted, body.replace('CANCELED', 'WORKING'))
      return response
    },
  }
}

/** Delivers the end of the first task when it has a notification of the next one, and that one then. */
function endWithNextTask(): Intercept {
  let first: string | undefined
  const [next, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return async (request, pass) => {
    const text = await request.clone().text()
    first ??= taskIdIn(text)
    if (!text.includes(first)) {
      next.resolve()
      await end.promise
    } else if (text.includes('COMPLETED')) {
      await next.promise
      return pass(request).finally(end.resolve)
    }
    return pass(request)
  }
}

/** The end of a task is lost, and everything later. When that is clear, the time of the check is over. */
function deadAfterEnd(): Intercept {
  let ended: string | undefined
  return delivered((_headers, body) => {
    if (ended === undefined && !body.includes('COMPLETED')) return body
    ended ??= taskIdIn(body)
    if (!body.includes(ended)) expire()
    return undefined
  })
}

/** The first subscription comes too late. */
function firstRefused(): Intercept {
  let isFirst = true
  return answer('SubscribeToTask', (call) => {
    const response = isFirst ? rpcError(call, -32004) : undefined
    isFirst = false
    return response
  })
}

/** The first cancel returns the task as it was. The second, or a read, shows its end. */
function lateCancel(): Intercept {
  const canceled = new Set<string>()
  return answer(['CancelTask', 'GetTask'], (call) => {
    const { id } = call.params
    const isCanceled = canceled.has(id)
    if (call.operation === 'GetTask')
      return isCanceled ? rpcResult(call, { id, status: { state: 'TASK_STATE_COMPLETED' } }) : undefined
    canceled.add(id)
    return isCanceled ? undefined : rpcResult(call, { id, status: { state: 'TASK_STATE_WORKING' } })
  })
}

const agents: readonly SlowAgent[] = [
  {
    slow: 'a notification of an earlier event arrives at a deleted webhook',
    ...lateAfterDelete(),
    verdicts: { 'push.after-delete': 'pass' },
  },
  {
    slow: 'no notification arrives',
    webhook: delivered(() => undefined),
    options: { patienceMs: 50 },
    verdicts: {
      'push.delivery': 'undecided',
      'push.end': 'undecided',
      'push.inline': 'undecided',
      'push.after-delete': 'undecided',
      'push.retry': 'undecided',
    },
  },
  {
    slow: 'the end of a task is notified with a later task',
    webhook: endWithNextTask(),
    options: { patienceMs: 50 },
    verdicts: { 'push.end': 'pass' },
  },
  {
    slow: 'neither the end of a task nor anything later is notified',
    webhook: deadAfterEnd(),
    options: { patienceMs: 50 },
    verdicts: { 'push.end': 'undecided' },
  },
  {
    slow: 'a failed notification is repeated in an hour, in order',
    settings: { push: { allow: ['127.0.0.1'], triggers: 'all', scheduleMs: [3_600_000] } },
    options: { patienceMs: 50 },
    verdicts: { 'push.retry': 'undecided' },
  },
  {
    slow: 'a stream closes when the next message arrives',
    intercept: untilNextMessage('SendStreamingMessage'),
    options: { patienceMs: 50 },
    verdicts: { 'streaming.ends': 'pass' },
  },
  {
    slow: 'a subscription brings the end of the task when the next message arrives',
    intercept: untilNextMessage('SubscribeToTask', isEnd),
    options: { patienceMs: 50 },
    verdicts: { 'subscribe.ends': 'pass' },
  },
  {
    slow: 'a stream stalls',
    intercept: editEvents('SendStreamingMessage', async function* (events) {
      for await (const event of events) {
        yield event
        expire()
        await new Promise(() => {})
      }
    }),
    verdicts: {
      'streaming.opens': 'undecided',
      'streaming.ends': 'undecided',
      'streaming.not-before-the-end': 'undecided',
    },
  },
  {
    slow: 'a slow task ends before the first subscription to it',
    intercept: firstRefused(),
    verdicts: { 'subscribe.nothing-lost': 'pass' },
  },
  {
    slow: 'a task ends some time after it is canceled',
    intercept: lateCancel(),
    verdicts: { 'cancel.open-task': 'pass', 'cancel.twice': 'pass' },
  },
]

describe('the agents that are slow', () => {
  for (const { slow, verdicts, options, ...agent } of agents) {
    it(`are not accused if ${slow}`, { timeout: 120_000 }, async () => {
      const results = await judgeFault(agent, Object.keys(verdicts), { ...options, checkTimeoutMs: limitMs })
      assert.deepEqual(
        Object.fromEntries(results.map(({ id, outcome }) => [id, outcome])),
        verdicts,
        JSON.stringify(results.map(({ id, note }) => [id, note])),
      )
    })
  }
})
