/** What the checks of push notifications share: the receiver, a task for configs, and configs in every dialect. */
import { randomBytes } from 'node:crypto'
import { CheckFailure, NotApplicable, Undecided } from '../check.ts'
import { outcomeOf } from '../expect.ts'
import type { Answer, Subject } from '../subject.ts'
import { isObject } from '../wire/encode-request.ts'
import type { JsonObject } from '../wire/spelling.ts'
import {
  openWebhookReceiver,
  type Delivery,
  type Webhook,
  type WebhookReceiver,
  type WebhookResponse,
} from '../webhook-receiver.ts'

export function requirePush({ capabilities }: Subject): void {
  if (!capabilities.pushNotifications) throw new NotApplicable('the card does not declare push notifications')
}

export async function newWebhook(
  subject: Subject,
  respond?: (delivery: Delivery, count: number) => WebhookResponse,
): Promise<Webhook> {
  const receiver = await subject.shared<WebhookReceiver>('webhook receiver', async () => {
    const { receiverUrl, receiverPort } = subject.options
    const opened = await openWebhookReceiver({
      ...(receiverUrl === undefined ? {} : { publicUrl: receiverUrl }),
      ...(receiverPort === undefined ? {} : { port: receiverPort }),
    })
    subject.onClose(() => opened.close())
    return opened
  })
  return receiver.webhook(respond)
}

/** A task that configs can be stored for: an open one if the agent makes such tasks. Made once per interface. */
export function taskForPush(subject: Subject): Promise<string> {
  requirePush(subject)
  return subject.once('task for push', async () => {
    const { task } = await subject.openTask().catch((reason: unknown) => {
      if (reason instanceof Undecided) return subject.finishedTask()
      throw reason
    })
    return task.id
  })
}

export interface CreatedConfig {
  readonly answer: Answer
  readonly taskId: string
  readonly id: string
  readonly url: string
  readonly token: string
  readonly credentials: string
  readonly webhook: Webhook
}

/** A stored config of `taskForPush`, made once per interface. */
export const createdConfig = (subject: Subject): Promise<CreatedConfig> =>
  subject.once('push config', () => makeConfig(subject))

/** Throws `Undecided` if the agent refuses the address of the receiver, and `CheckFailure` if it refuses any. */
export async function makeConfig(subject: Subject, ofTask?: string, given?: Webhook): Promise<CreatedConfig> {
  const taskId = ofTask ?? (await taskForPush(subject))
  requirePush(subject)
  const webhook = given ?? (await newWebhook(subject))
  const { config, token, credentials } = configFor(webhook)
  const answer = await subject.call('CreateTaskPushNotificationConfig', { taskId, ...config })
  if (answer.error !== undefined || answer.malformed !== undefined) {
    const why = `CreateTaskPushNotificationConfig is answered with ${outcomeOf(answer)}`
    // An agent may refuse loopback (§13.2), and must not refuse the capability that it declares.
    if (answer.error?.name === 'PUSH_NOTIFICATION_NOT_SUPPORTED')
      throw new CheckFailure(`The card declares push notifications, but ${why}`, answer.exchange)
    if (
      subject.options.receiverUrl === undefined &&
      answer.error !== undefined &&
      answer.error.name !== 'METHOD_NOT_FOUND' &&
      answer.error.name !== 'INTERNAL'
    )
      throw new Undecided(
        `the agent refuses the address of the receiver; give a public one with --receiver-url (${why})`,
      )
    throw new CheckFailure(why, answer.exchange)
  }
  return { answer, taskId, id: configIdOf(subject, answer.result), url: webhook.url, token, credentials, webhook }
}

/** A config in the JSON of 1.0. Without an id: a server of 0.3 may want to choose it. */
export function configFor(webhook: Webhook): { config: JsonObject; token: string; credentials: string } {
  const token = `token-${randomBytes(6).toString('hex')}`
  const credentials = `secret-${randomBytes(6).toString('hex')}`
  const id = `conformance-${randomBytes(4).toString('hex')}`
  return {
    config: { id, url: webhook.url, token, authentication: { scheme: 'Bearer', credentials } },
    token,
    credentials,
  }
}

export interface ConfigView {
  readonly id: string | undefined
  readonly taskId: string | undefined
  readonly url: string | undefined
}

/** 0.x wraps the config, and 0.3 over REST and gRPC names it by a resource. */
export function readConfig(subject: Subject, raw: unknown): ConfigView {
  const outer = isObject(raw) ? raw : {}
  const inner = isObject(outer['pushNotificationConfig']) ? outer['pushNotificationConfig'] : outer
  const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
  const [, ofName, idOfName] = /^tasks\/([^/]+)\/pushNotificationConfigs\/(.+)$/.exec(text(outer['name']) ?? '') ?? []
  const taskId = subject.version === '1.0' ? text(outer['taskId']) : (text(outer['taskId']) ?? ofName)
  return { id: text(inner['id']) ?? idOfName, taskId, url: text(inner['url']) }
}

/** A config without an id of its own has, in 0.x, that of its task. */
export function configIdOf(subject: Subject, raw: unknown): string {
  const { id, taskId } = readConfig(subject, raw)
  return id ?? taskId ?? ''
}

export function readConfigs(subject: Subject, { result, exchange }: Answer): readonly ConfigView[] {
  const list = Array.isArray(result) ? (result as unknown[]) : isObject(result) ? (result['configs'] ?? []) : undefined
  if (!Array.isArray(list)) throw new CheckFailure('The response is no list of configs', exchange)
  return list.map((config: unknown) => readConfig(subject, config))
}
