/** Push notifications as they arrive at the receiver of the run. */
import { pass, Undecided, type Check } from '../check.ts'
import { expect } from '../expect.ts'
import { patienceMs } from '../record-stream.ts'
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
      const { webhook, taskId, how } = await deliveries(subject)
      const [first] = webhook.deliveries
      expect(
        first !== undefined,
        `No notification arrived within ${patienceMs(subject)} ms after the task ${taskId} ${how}`,
      )
      expect(first.method === 'POST', `The notification is sent with ${first.method}`, first)
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
      const isNotified = await webhook.until(
        (all) => all.some((each) => terminalStates.has(stateIn(subject, each))),
        patienceMs(subject),
      )
      expect(isNotified, `No notification tells the end of the task: ${task.state}`, webhook.deliveries.at(-1))
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
      const { webhook } = await deliveries(subject)
      const isEnd = (delivery: Delivery): boolean => terminalStates.has(stateIn(subject, delivery))
      await webhook.until((all) => all.some(isEnd), patienceMs(subject))
      // What is out of order comes after the end.
      await webhook.until((all) => all.slice(all.findIndex(isEnd)).some((each) => !isEnd(each)), subject.quietMs)
      let ended: string | undefined
      for (const delivery of webhook.deliveries) {
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
      const run = await inlineDeliveries(subject)
      expect(
        run.webhook.deliveries.length > 0,
        `No notification arrived for the config inside the message within ${patienceMs(subject)} ms`,
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
      await subject.call('DeleteTaskPushNotificationConfig', { taskId: task.id, id: deleted.id })
      const before = deleted.webhook.deliveries.length
      await subject.call('CancelTask', { id: task.id })
      // The webhook that is left tells when the agent has called all.
      const isCalled = await kept.webhook.until((all) => all.length > 0, patienceMs(subject))
      if (!isCalled) throw new Undecided('the webhook that was not deleted is not called either')
      const isCalledAgain = await deleted.webhook.until((all) => all.length > before, subject.quietMs)
      expect(!isCalledAgain, 'A deleted webhook is called', deleted.webhook.deliveries.at(-1))
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
      await sendWith(subject, webhook)
      const [first] = (await webhook.until((all) => all.length > 0, patienceMs(subject))) ? webhook.deliveries : []
      if (first === undefined) throw new Undecided('no notification arrived')
      const isRepeated = await webhook.until(
        (all) => all.slice(1).some(({ text }) => text === first.text),
        patienceMs(subject),
      )
      expect(isRepeated, `The notification is not repeated within ${patienceMs(subject)} ms`, first)
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
      await sendWith(subject, webhook)
      if (!(await webhook.until((all) => all.length > 0, patienceMs(subject))))
        throw new Undecided('no notification arrived')
      await webhook.until((all) => all.some(({ path }) => path === '/elsewhere'), subject.quietMs * 3)
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
async function deliveries(subject: Subject): Promise<DeliveryRun> {
  requirePush(subject)
  return subject.once('push deliveries', async () => {
    const inline = await inlineDeliveries(subject)
    if (inline.webhook.deliveries.length > 0) return inline
    const { task } = await subject.openTask()
    const created = await makeConfig(subject, task.id)
    await subject.call('CancelTask', { id: task.id })
    await created.webhook.until((all) => all.length > 0, patienceMs(subject))
    return { ...created, how: 'was canceled' }
  })
}

function inlineDeliveries(subject: Subject): Promise<DeliveryRun> {
  requirePush(subject)
  return subject.once('inline push deliveries', async () => {
    const webhook = await newWebhook(subject)
    const { taskId, token, credentials } = await sendWith(subject, webhook)
    await webhook.until((all) => all.length > 0, patienceMs(subject))
    return { webhook, taskId, token, credentials, how: 'was made with a config inside the message' }
  })
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

/** The notifications of the run. Throws `Undecided` without any: that is a failure of `push.delivery`. */
async function arrived(subject: Subject): Promise<readonly Delivery[]> {
  const { webhook } = await deliveries(subject)
  if (webhook.deliveries.length === 0) throw new Undecided('no notification arrived')
  return webhook.deliveries
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
