/** Push notifications as they arrive at the receiver of the run. */
import { pass, Undecided, type Check } from '../check.ts'
import { pause } from '../create-subject.ts'
import { expect } from '../expect.ts'
import type { Subject } from '../subject.ts'
import { isObject } from '../wire/encode-request.ts'
import { readResult, readTask, terminalStates, type ResultView } from '../wire/read-response.ts'
import type { Delivery, Webhook } from '../webhook-receiver.ts'
import { configFor, makeConfig, newWebhook, requirePush } from './push-setup.ts'
import { judgeEvent } from './stream-events.ts'
import { describeError } from '../wire/read-error.ts'

const allBindings = ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const
const allVersions = ['1.0', '0.3', '0.2'] as const
const both = { versions: allVersions, bindings: allBindings, sends: true } as const

const sectionOf = (modern: string, legacy: string) => ({
  '1.0': `A2A 1.0 ${modern}`,
  '0.3': `A2A 0.3 ${legacy}`,
  '0.2': `A2A 0.2 ${legacy}`,
})

export const pushDeliveryChecks: readonly Check[] = [
  {
    id: 'push.delivery',
    rules: ['B-127'],
    level: 'must',
    section: sectionOf('§4.3.3', '§9.5'),
    title: 'The agent calls each configured webhook at least once, with POST',
    ...both,
    async run(subject) {
      const [first] = await arrived(subject)
      expect(first?.method === 'POST', `The notification is sent with ${first?.method}`, first)
      return pass()
    },
  },
  {
    id: 'push.payload',
    rules: ['B-121', 'F-12'],
    level: 'must',
    section: 'A2A 1.0 §4.3.3',
    title: 'A notification is a StreamResponse about its task',
    ...both,
    versions: ['1.0'],
    async run(subject) {
      for (const delivery of await arrived(subject)) {
        expect(isObject(delivery.json), `The body is no JSON object: ${delivery.text.slice(0, 80)}`, delivery)
        const view = viewOf(delivery)
        const wrong = judgeEvent(view, '1.0')
        expect(wrong === undefined, `The notification ${wrong}`, delivery)
        const { taskId } = await deliveries(subject)
        const named = taskIdIn(view)
        expect(
          named === undefined || named === taskId,
          `The notification is about ${named} instead of ${taskId}`,
          delivery,
        )
      }
      return pass()
    },
  },
  {
    id: 'push.payload-0.x',
    rules: ['B-122'],
    level: 'info',
    section: { '0.3': 'A2A 0.3 §9.5 (not defined)', '0.2': 'A2A 0.2 §9.5 (not defined)' },
    title: 'A notification of 0.x names its task',
    ...both,
    versions: ['0.3', '0.2'],
    async run(subject) {
      const { taskId } = await deliveries(subject)
      for (const delivery of await arrived(subject)) {
        expect(delivery.text.includes(taskId), `The notification does not name the task ${taskId}`, delivery)
      }
      return pass()
    },
  },
  {
    id: 'push.content-type',
    rules: ['B-121'],
    level: 'should',
    section: 'A2A 1.0 §4.3.3, §11.1',
    title: 'A notification is labelled application/a2a+json, or application/json',
    ...both,
    versions: ['1.0'],
    async run(subject) {
      const [first] = await arrived(subject)
      const type = first?.headers['content-type']
      expect(/^application\/(a2a\+)?json\b/i.test(type ?? ''), `Content-Type is ${type ?? 'missing'}`, first)
      return pass(type)
    },
  },
  {
    id: 'push.authorization',
    rules: ['B-124', 'B-125'],
    level: 'must',
    section: sectionOf('§4.3.3, §13.2', '§9.5'),
    title: 'A notification carries the credentials of its config',
    ...both,
    async run(subject) {
      const { credentials } = await deliveries(subject)
      for (const delivery of await arrived(subject)) {
        const given = delivery.headers['authorization'] ?? ''
        const is = given.toLowerCase().startsWith('bearer ') && given.slice(7) === credentials
        expect(
          is,
          given === '' ? 'There is no Authorization' : 'Authorization has other credentials than the config',
          delivery,
        )
      }
      return pass()
    },
  },
  {
    id: 'push.token',
    rules: ['B-126'],
    level: { '1.0': 'info', '0.3': 'should', '0.2': 'should' },
    section: sectionOf('§4.3.1 (no header is named)', '§9.5'),
    title: 'A notification carries the token of its config in X-A2A-Notification-Token',
    ...both,
    async run(subject) {
      const { token } = await deliveries(subject)
      const [first] = await arrived(subject)
      expect(
        first?.headers['x-a2a-notification-token'] === token,
        'X-A2A-Notification-Token is missing or another one',
        first,
      )
      return pass()
    },
  },
  {
    id: 'push.end',
    rules: ['B-132'],
    level: { '1.0': 'should', '0.3': 'should', '0.2': 'should' },
    section: sectionOf('§3.1.7, §4.3.3', '§9.5'),
    title: 'The end of a task is among its notifications',
    ...both,
    async run(subject) {
      await arrived(subject)
      const { webhook, taskId } = await deliveries(subject)
      const { task } = await subject.settle(taskId)
      if (!terminalStates.has(task.state)) throw new Undecided(`the task has not ended: ${task.state}`)
      const isNotified = (): boolean =>
        webhook.deliveries.some((each) => each.text.includes(taskId) && isEnd(subject, each))
      if (!isNotified()) await laterDelivery(subject, webhook)
      expect(
        isNotified(),
        `No notification tells the end of the task (${task.state}), and one of a later task has arrived`,
        webhook.deliveries.at(-1),
      )
      return pass()
    },
  },
  {
    id: 'push.order',
    rules: ['B-127'],
    level: 'info',
    section: 'A2A 1.0 §4.3.3 (silent about the order)',
    title: 'Notifications of one task arrive in the order of its events',
    ...both,
    versions: ['1.0'],
    async run(subject) {
      await arrived(subject)
      const { webhook, taskId } = await deliveries(subject)
      // What is out of order comes after the end of its task.
      await laterDelivery(subject, webhook)
      let ended: string | undefined
      for (const delivery of webhook.deliveries.filter(({ text }) => text.includes(taskId))) {
        const state = stateIn(subject, delivery)
        expect(
          ended === undefined || state === ended || viewOf(delivery).kind === 'task',
          `A notification follows that of ${ended}`,
          delivery,
        )
        if (terminalStates.has(state)) ended = state
      }
      return pass()
    },
  },
  {
    id: 'push.inline',
    rules: ['B-71'],
    level: { '1.0': 'should', '0.3': 'should', '0.2': 'should' },
    section: sectionOf('§3.2.2', '§7.1.1'),
    title: 'A config inside a message is used for its task',
    ...both,
    async run(subject) {
      const { webhook } = await inlineDeliveries(subject)
      if (webhook.deliveries.length > 0) return pass()
      const { inline, webhook: created } = await configDeliveries(subject)
      if (created.deliveries.length === 0)
        throw new Undecided('no notification arrived for a config of the task either')
      expect(
        await inline.until((all) => all.length > 0, subject.signal, subject.patienceMs),
        'A config that was created for the task is used, and the one inside its message is not',
        created.deliveries[0],
      )
      return pass()
    },
  },
  {
    id: 'push.after-delete',
    rules: ['B-118'],
    level: 'must',
    section: sectionOf('§3.1.10', '§7.8'),
    title: 'A deleted webhook is not called again',
    ...both,
    async run(subject) {
      requirePush(subject)
      const { task } = await subject.openTask()
      const kept = await makeConfig(subject, task.id)
      const deleted = await makeConfig(subject, task.id)
      const answer = await subject.call('DeleteTaskPushNotificationConfig', { taskId: task.id, id: deleted.id })
      if (answer.error !== undefined)
        throw new Undecided(`the config cannot be deleted: ${describeError(answer.error)}`)
      // Notifications of earlier events may be under way. Only the end of a task that is still open is caused after the delete.
      const { task: open } = await subject.getTask(task.id)
      if (terminalStates.has(open.state)) throw new Undecided(`the task ended before the delete: ${open.state}`)
      await subject.call('CancelTask', { id: task.id })
      await untilSettled(subject, kept.webhook, task.id)
      const isNotified = kept.webhook.deliveries.some((each) => isEnd(subject, each))
      if (isNotified) await laterDelivery(subject, kept.webhook)
      const wrong = deleted.webhook.deliveries.find((each) => isEnd(subject, each))
      expect(wrong === undefined, 'A deleted webhook receives the end of the task, which came after the delete', wrong)
      if (!isNotified)
        throw new Undecided('the webhook that was not deleted does not receive the end of the task either')
      return pass()
    },
  },
  {
    id: 'push.retry',
    rules: ['B-128'],
    level: 'should',
    section: sectionOf('§13.2', '§9.5'),
    title: 'A notification that was answered with 503 is sent again',
    ...both,
    async run(subject) {
      await arrived(subject)
      const webhook = await newWebhook(subject, (_delivery, count) => ({ status: count === 1 ? 503 : 204 }))
      await deliverTo(subject, webhook)
      const [first] = webhook.deliveries
      const isRepeated = (all: readonly Delivery[]): boolean => all.slice(1).some(({ text }) => text === first?.text)
      if (await webhook.until(isRepeated, subject.signal, subject.patienceMs)) return pass()
      // An agent that keeps the order may repeat it later.
      if (webhook.deliveries.length === 1)
        throw new Undecided(
          `the notification is not repeated within ${subject.patienceMs} ms, and none has followed it`,
        )
      await laterDelivery(subject, webhook)
      expect(isRepeated(webhook.deliveries), 'The notification is not repeated, and later ones have arrived', first)
      return pass()
    },
  },
  {
    id: 'push.redirect',
    rules: ['B-129'],
    level: 'info',
    section: sectionOf('§13.2 (silent about redirects)', '§9.5'),
    title: 'A redirect of a webhook is not followed: it leads around the check of its address',
    ...both,
    async run(subject) {
      await arrived(subject)
      const webhook: Webhook = await newWebhook(subject, ({ path }) =>
        path === '/' ? { status: 307, headers: { location: `${webhook.url}/elsewhere` } } : { status: 204 },
      )
      await deliverTo(subject, webhook)
      await laterDelivery(subject, webhook)
      const followed = webhook.deliveries.find(({ path }) => path === '/elsewhere')
      expect(followed === undefined, 'The redirect is followed, with the notification', followed)
      return pass()
    },
  },
]

interface DeliveryRun {
  readonly webhook: Webhook
  readonly taskId: string
  readonly token: string
  readonly credentials: string
  readonly how: string
}

/** A message with a config inside; for an agent that ignores it, a config of an open task, which is canceled then. */
function deliveries(subject: Subject): Promise<DeliveryRun> {
  return subject.once('push deliveries', async () => {
    const inline = await inlineDeliveries(subject)
    return inline.webhook.deliveries.length > 0 ? inline : configDeliveries(subject)
  })
}

function inlineDeliveries(subject: Subject): Promise<DeliveryRun> {
  requirePush(subject)
  return subject.once('inline push deliveries', async () => {
    const webhook = await newWebhook(subject)
    const sent = await sendWith(subject, webhook)
    await untilSettled(subject, webhook, sent.taskId)
    return { webhook, ...sent, how: 'was made with a config inside the message' }
  })
}

/** An open task with a config inside its message and a second one, which is canceled then: its end is due at both webhooks. */
function configDeliveries(subject: Subject): Promise<DeliveryRun & { readonly inline: Webhook }> {
  return subject.once('config push deliveries', async () => {
    const inline = await newWebhook(subject)
    const { task } = await subject.openTask({ taskPushNotificationConfig: configFor(inline).config })
    const created = await makeConfig(subject, task.id)
    await subject.call('CancelTask', { id: task.id })
    await untilSettled(subject, created.webhook, task.id)
    return { ...created, inline, how: 'was canceled' }
  })
}

/** Waits until the task ends or waits for the client, and the webhook receives that. */
async function untilSettled(subject: Subject, webhook: Webhook, taskId: string): Promise<void> {
  const { task } = await subject.settle(taskId)
  const isNotified = (delivery: Delivery): boolean => stateIn(subject, delivery) === task.state
  await webhook.until((all) => all.some(isNotified), subject.signal, subject.patienceMs)
}

/** A new task with this webhook, by a config of the kind that the agent uses. Waits for a notification of it. */
async function deliverTo(subject: Subject, webhook: Webhook): Promise<void> {
  const { taskId, token } = await startTask(subject, webhook)
  const isOfTask = ({ text, headers }: Delivery): boolean =>
    text.includes(taskId) || headers['x-a2a-notification-token'] === token
  if (!(await webhook.until((all) => all.some(isOfTask), subject.signal)))
    throw new Undecided('no notification of a later task arrived')
}

async function startTask(subject: Subject, webhook: Webhook): Promise<{ taskId: string; token: string }> {
  const inline = await inlineDeliveries(subject)
  if (inline.webhook.deliveries.length > 0) return sendWith(subject, webhook)
  const { task } = await subject.openTask()
  const created = await makeConfig(subject, task.id, webhook)
  await subject.call('CancelTask', { id: task.id })
  return created
}

/** An agent that is only slow has sent before what was due before a later task: `quietMs` is for what was sent at the same time. */
async function laterDelivery(subject: Subject, webhook: Webhook): Promise<void> {
  await deliverTo(subject, webhook)
  await pause(subject.quietMs, subject.signal)
}

async function sendWith(
  subject: Subject,
  webhook: Webhook,
): Promise<{ taskId: string; token: string; credentials: string }> {
  const { config, token, credentials } = configFor(webhook)
  const answer = await subject.send('complete', {}, { taskPushNotificationConfig: config, returnImmediately: true })
  if (answer.error !== undefined) {
    const hint = subject.options.receiverUrl === undefined ? '; give a public address with --receiver-url' : ''
    throw new Undecided(`the agent refuses a message with a webhook: ${describeError(answer.error)}${hint}`)
  }
  const id = answer.view.kind === 'task' ? answer.view.task.id : undefined
  if (id === undefined) throw new Undecided('the agent makes no task')
  return { taskId: id, token, credentials }
}

/** The notifications of the run. Throws `Undecided` without any. */
async function arrived(subject: Subject): Promise<readonly Delivery[]> {
  const { webhook, taskId, how } = await deliveries(subject)
  if (webhook.deliveries.length > 0) return webhook.deliveries
  throw new Undecided(`no notification arrived within ${subject.patienceMs} ms after the task ${taskId} ${how}`)
}

const viewOf = ({ json }: Delivery): ResultView => readResult('1.0', json)

function taskIdIn(view: ResultView): string | undefined {
  return view.kind === 'task'
    ? view.task.id
    : view.kind === 'status' || view.kind === 'artifact'
      ? view.taskId
      : undefined
}

/** 0.x sends the whole task, or a bare event. */
function stateIn(subject: Subject, { json }: Delivery): string | undefined {
  const read = readResult(subject.version === '1.0' ? '1.0' : '0.x json', json)
  if (read.kind === 'task') return read.task.state
  if (read.kind === 'status') return read.state
  return subject.version === '1.0' ? undefined : readTask('0.x json', json).state
}

const isEnd = (subject: Subject, delivery: Delivery): boolean => terminalStates.has(stateIn(subject, delivery))
