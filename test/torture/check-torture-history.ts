/**
 * Judges the history of a torture run: whether anything that a client observed is lost, doubled, out of order or contradicted
 * by what another client observed, by the log, or by the agents. Pure: check-torture-history.full.test.ts shows that it reports each kind of violation.
 * The rules about logs and streams are those of the cluster's checker.
 */
import { isDeepStrictEqual } from 'node:util'
import { eventOfRecord, type LogRecord } from '../../packages/a2a/src/model/record.ts'
import { isTerminal } from '../../packages/a2a/src/model/state.ts'
import { checkClusterHistory as checkStreams, type TaskLog, type SubscriberHistory } from '../cluster/check-history.ts'
import { receivedSeqs, outOfOrder } from '../push/delivery-order.ts'
import type { Arrival } from '../push/faulty-receiver.ts'
import {
  textOf,
  viewOf,
  type Acknowledgement,
  type Backup,
  type Execution,
  type WebhookHistory,
  type ListedTasks,
  type PolledTask,
  type TaskView,
  type TortureHistory,
} from './history.ts'

/** The violations, one sentence each. */
export function checkTortureHistory(history: TortureHistory): readonly string[] {
  const { streams, sent, logs, polls, backups, executions, acknowledgements, durableAgents } = history
  const byId = new Map(logs.map((log) => [log.taskId, log]))
  return [
    ...checkStreams({ streams, sent, logs, outages: [] }),
    ...streams.flatMap((one) => checkSnapshots(one, byId.get(one.taskId))),
    ...checkPolls(polls, byId),
    ...history.resends.flatMap(({ messageId, taskIds }) =>
      new Set(taskIds).size > 1 ? [`message ${messageId} got several tasks: ${taskIds.join(', ')}`] : [],
    ),
    ...history.listings.flatMap(checkListing),
    ...history.cancels.flatMap(({ taskId, outcome }) => checkCancel(outcome, taskId, byId.get(taskId))),
    ...checkExecutions(executions, acknowledgements, { durableAgents, hadStoreFaults: history.hadStoreFaults }),
    ...checkHooks(history.hooks, history.arrivals, byId),
    ...backups.flatMap((backup) => checkBackup(backup, byId)),
  ]
}

/** What a log adds up to after each of its records, folded here and not by the engine that is under test. */
function viewsOf(records: readonly LogRecord[]): readonly (TaskView & { readonly seq: number })[] {
  const views: (TaskView & { readonly seq: number })[] = []
  let state: TaskView['state'] | undefined
  let texts: Readonly<Record<string, string>> = {}
  for (const { seq, body } of records) {
    if (body.type === 'status') state = body.status.state
    else if (body.type === 'artifact') {
      const { artifactId } = body.artifact
      const before = body.append === true ? (texts[artifactId] ?? '') : ''
      texts = { ...texts, [artifactId]: before + textOf(body.artifact) }
    }
    if (state !== undefined) views.push({ seq, state, texts })
  }
  return views
}

function matches(observed: TaskView, view: TaskView): boolean {
  return (
    observed.state === view.state && (observed.texts === undefined || isDeepStrictEqual(observed.texts, view.texts))
  )
}

/** A snapshot in a stream is the task exactly as it was at its cursor. */
function checkSnapshots(
  { subscriber, taskId, events }: SubscriberHistory,
  log: TaskLog | undefined,
): readonly string[] {
  if (log === undefined) return []
  const snapshots = events.filter(({ event }) => 'task' in event)
  if (snapshots.length === 0) return []
  const views = viewsOf(log.records)
  return snapshots.flatMap(({ seq, event }) => {
    if (!('task' in event)) return []
    const view = views.findLast((one) => one.seq <= seq)
    const isSame = view !== undefined && matches(viewOf(event.task), view)
    return isSame ? [] : [`${subscriber} of ${taskId} received a snapshot at ${seq} that the log contradicts`]
  })
}

/** Each answer shows the task as it was at some point, and answers to one client never go back in time. */
function checkPolls(polls: readonly PolledTask[], logs: ReadonlyMap<string, TaskLog>): readonly string[] {
  const places = new Map<string, number>()
  const known = new Map<string, ReturnType<typeof viewsOf>>()
  return polls.flatMap(({ client, taskId, view }) => {
    const log = logs.get(taskId)
    if (log === undefined) return [`${client} was shown ${taskId}, which is gone: it was lost`]
    const views = known.get(taskId) ?? viewsOf(log.records)
    known.set(taskId, views)
    const key = `${client} ${taskId}`
    const from = places.get(key) ?? 0
    const at = views.findIndex((one, index) => index >= from && matches(view, one))
    if (at >= 0) {
      places.set(key, at)
      return []
    }
    const was = views.some((one) => matches(view, one))
    const what = `${taskId} as ${view.state} ${shortenTexts(view.texts)}`
    if (was) return [`${client} was shown ${what} after a later state: out of order`]
    return [`${client} was shown ${what}, which the log contradicts`]
  })
}

function shortenTexts(texts: TaskView['texts']): string {
  if (texts === undefined) return ''
  const text = JSON.stringify(texts)
  return text.length > 200 ? `${text.slice(0, 100)}…${text.slice(-100)}` : text
}

function checkListing({ contextId, expected, pages }: ListedTasks): readonly string[] {
  const listed = pages.flat()
  const doubled = listed.filter((id, index) => listed.indexOf(id) !== index)
  const missing = expected.filter((id) => !listed.includes(id))
  return [
    ...doubled.map((id) => `the list of ${contextId} has ${id} twice`),
    ...missing.map((id) => `the list of ${contextId} lacks ${id}, which had been acknowledged`),
  ]
}

function checkCancel(outcome: 'canceled' | 'refused', taskId: string, log: TaskLog | undefined): readonly string[] {
  const end = log?.records.findLast(({ body }) => body.type === 'status' && isTerminal(body.status.state))?.body
  const state = end?.type === 'status' ? end.status.state : undefined
  if (outcome === 'canceled' && state !== 'TASK_STATE_CANCELED')
    return [`${taskId} was said to be canceled and is ${state}: two winners`]
  if (outcome === 'refused' && state === undefined) return [`${taskId} could not be canceled and never ended`]
  return []
}

/**
 * An agent is called once for each attempt. Attempt 1 may be repeated only if no client had an acknowledgement of the message, by
 * another process or after a failed write, and never where the hub calls the agent after the append (docs/explanation/durability.md).
 */
function checkExecutions(
  executions: readonly Execution[],
  acknowledgements: readonly Acknowledgement[],
  { durableAgents, hadStoreFaults }: Pick<TortureHistory, 'durableAgents' | 'hadStoreFaults'>,
): readonly string[] {
  const acknowledged = new Map<string, number>()
  for (const { messageId, atNs } of acknowledgements)
    acknowledged.set(messageId, Math.min(atNs, acknowledged.get(messageId) ?? Infinity))
  const seen = new Map<string, Execution[]>()
  return executions.flatMap((execution) => {
    const { agent, messageId, attempt, by, atNs } = execution
    const key = `${messageId} ${attempt}`
    const before = seen.get(key) ?? []
    seen.set(key, [...before, execution])
    if (before.length === 0) return []
    if (durableAgents.includes(agent)) return [`${agent} ran ${messageId} twice as attempt ${attempt}`]
    const isSameProcess = before.some((one) => one.by === by)
    if (isSameProcess && (attempt > 1 || !hadStoreFaults))
      return [`${agent} ran ${messageId} twice in one process, attempt ${attempt}`]
    if (attempt > 1) return [`${agent} ran attempt ${attempt} of ${messageId} in two processes`]
    const isLate = atNs !== undefined && atNs > (acknowledged.get(messageId) ?? Infinity)
    return isLate ? [`${agent} ran ${messageId} from the start again after it was acknowledged`] : []
  })
}

/** At least once, in order, and each as the log has it. */
function checkHooks(
  hooks: readonly WebhookHistory[],
  arrivals: readonly Arrival[],
  logs: ReadonlyMap<string, TaskLog>,
): readonly string[] {
  const byKey = Map.groupBy(arrivals, ({ key }) => key)
  return hooks.flatMap(({ key, taskId }) => {
    const log = logs.get(taskId)
    if (log === undefined) return []
    const came = byKey.get(key) ?? []
    const visible = new Map(
      log.records.flatMap(({ seq, body }) => {
        const event = eventOfRecord(taskId, log.contextId, body)
        return event === undefined ? [] : [[seq, event] as const]
      }),
    )
    const expected = [...visible.keys()]
    const had = new Set(receivedSeqs(came))
    const lost = expected.filter((seq) => !had.has(seq))
    return [
      ...(lost.length > 0 ? [`webhook ${key} of ${taskId} never got ${lost.join()}`] : []),
      ...outOfOrder(came, expected).map((sentence) => `webhook ${key} of ${taskId}: ${sentence}`),
      ...came.flatMap(({ seq, body }) => {
        const event = visible.get(seq)
        if (event === undefined) return [`webhook ${key} of ${taskId} got ${seq}, which is not in the log`]
        const isSame = body === undefined || isDeepStrictEqual(JSON.parse(body), JSON.parse(JSON.stringify(event)))
        return isSame ? [] : [`webhook ${key} of ${taskId} got something else at ${seq} than the log has`]
      }),
    ]
  })
}

/** A backup holds everything that clients had received when it began, and nothing that the database lacks. */
function checkBackup({ name, receivedBefore, logs }: Backup, final: ReadonlyMap<string, TaskLog>): readonly string[] {
  const copied = new Map(logs.map((log) => [log.taskId, log.records]))
  const lost = [...receivedBefore].flatMap(([taskId, seq]) => {
    const head = copied.get(taskId)?.at(-1)?.seq ?? 0
    return head < seq ? [`${name} lacks ${seq} of ${taskId}, which a client had received: it ends at ${head}`] : []
  })
  const different = logs.flatMap(({ taskId, records }) => {
    const whole = final.get(taskId)?.records
    if (whole === undefined) return []
    const isPrefix = records.every((record, index) => isDeepStrictEqual(record, whole[index]))
    return isPrefix ? [] : [`${name} contradicts the log of ${taskId}`]
  })
  return [...lost, ...different]
}
