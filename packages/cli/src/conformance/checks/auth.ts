/** Credentials: what an agent that requires them does without, and what one caller sees of another. */
import { NotApplicable, pass, Undecided, type Check } from '../check.ts'
import { expect, expectError, expectRefusal, expectResult, outcomeOf, unknownTaskId } from '../expect.ts'
import type { Answer, CallSettings, Subject } from '../subject.ts'
import { isObject } from '../wire/encode-request.ts'
import { readTask } from '../wire/read-response.ts'
import type { JsonObject, OperationName } from '../wire/spelling.ts'
import { refusalOf } from './streaming-rules.ts'

const both = { versions: ['1.0', '0.3', '0.2'], bindings: ['JSONRPC', 'HTTP+JSON', 'GRPC'] } as const
const sectionOf = (modern: string, legacy: string) => ({
  '1.0': `A2A 1.0 ${modern}`,
  '0.3': `A2A 0.3 ${legacy}`,
  '0.2': `A2A 0.2 ${legacy}`,
})

export const authChecks: readonly Check[] = [
  {
    id: 'auth.required',
    rules: ['B-150', 'B-153'],
    level: 'must',
    section: sectionOf('§7.4, §13.1', '§4.4'),
    title: 'Every operation is refused without credentials if the card requires them',
    ...both,
    sends: false,
    async run(subject) {
      requireCredentials(subject)
      for (const [operation, payload] of readingCalls(subject)) {
        const answer = await callWithout(subject, operation, payload)
        expect(isAuthRefusal(answer), `${operation} without credentials is answered with ${outcomeOf(answer)}`, answer)
      }
      return pass()
    },
  },
  {
    id: 'auth.send',
    rules: ['B-150'],
    level: 'must',
    section: sectionOf('§7.4', '§4.4'),
    title: 'A message without credentials is refused if the card requires them',
    ...both,
    sends: true,
    async run(subject) {
      requireCredentials(subject)
      const answer = await subject.send('complete', {}, undefined, { credentials: 'none' })
      expect(isAuthRefusal(answer), `A message without credentials is answered with ${outcomeOf(answer)}`, answer)
      return pass()
    },
  },
  {
    id: 'auth.invalid-credentials',
    rules: ['B-150'],
    level: 'must',
    section: sectionOf('§3.3.2, §7.4', '§4.4'),
    title: 'Credentials that the agent never issued are refused',
    ...both,
    sends: false,
    async run(subject) {
      requireCredentials(subject)
      const answer = await subject.call('GetTask', { id: unknownTaskId(subject) }, wrongCredentials(subject))
      expect(isAuthRefusal(answer), `Wrong credentials are answered with ${outcomeOf(answer)}`, answer)
      return pass()
    },
  },
  {
    id: 'auth.status',
    rules: ['B-151'],
    level: 'should',
    section: sectionOf('§3.3.2, §7.4', '§4.4'),
    title:
      'A request without valid credentials is answered with 401 or 403, over gRPC with UNAUTHENTICATED or PERMISSION_DENIED',
    ...both,
    sends: false,
    async run(subject) {
      requireCredentials(subject)
      for (const [what, settings] of [
        ['no', { credentials: 'none' }],
        ['wrong', wrongCredentials(subject)],
      ] as const) {
        const answer = await subject.call('GetTask', { id: unknownTaskId(subject) }, settings)
        const status = subject.binding === 'GRPC' ? (answer.error?.grpcStatus ?? 'OK') : String(answer.status)
        const isRight = ['401', '403', 'UNAUTHENTICATED', 'PERMISSION_DENIED'].includes(status)
        expect(isRight, `A request with ${what} credentials is answered with ${status}`, answer)
      }
      return pass()
    },
  },
  {
    id: 'auth.challenge',
    rules: ['B-151'],
    level: 'should',
    section: sectionOf('§3.3.2, §7.4', '§4.4'),
    title: 'A 401 names the scheme in WWW-Authenticate',
    ...both,
    bindings: ['JSONRPC', 'HTTP+JSON'],
    sends: false,
    async run(subject) {
      requireCredentials(subject)
      const answer = await subject.call('GetTask', { id: unknownTaskId(subject) }, { credentials: 'none' })
      if (answer.status !== 401) throw new Undecided(`the agent answers with ${answer.status}`)
      const challenge = answer.headers['www-authenticate']
      expect(challenge !== undefined && challenge !== '', 'The 401 has no WWW-Authenticate', answer)
      return pass(challenge)
    },
  },
  {
    id: 'auth.extended-card',
    rules: ['B-137'],
    level: 'must',
    section: sectionOf('§3.1.11, §13.3', '§7.10'),
    title: 'The extended card is refused without credentials',
    ...both,
    versions: ['1.0', '0.3'],
    sends: false,
    async run(subject) {
      if (!subject.capabilities.extendedAgentCard) throw new NotApplicable('the card declares no extended card')
      const answer = await subject.call('GetExtendedAgentCard', {}, { credentials: 'none' })
      if (answer.error?.name === 'EXTENDED_AGENT_CARD_NOT_CONFIGURED')
        throw new Undecided('the agent has no extended card')
      expectRefusal(answer, 'GetExtendedAgentCard without credentials')
      return pass()
    },
  },
  {
    id: 'auth.foreign-task',
    rules: ['B-160', 'B-153'],
    level: 'must',
    section: sectionOf('§3.3.2, §13.1', '§4.5'),
    title: 'A task of another caller is not found',
    ...both,
    sends: true,
    async run(subject) {
      const { id } = await taskBesideOther(subject)
      const other = { credentials: 'other' } as const
      for (const [operation, payload] of [
        ['GetTask', { id }],
        ['CancelTask', { id }],
      ] as const) {
        const answer = await subject.call(operation, payload, other)
        expectError(answer, `${operation} of a task of another caller`, 'TASK_NOT_FOUND')
      }
      if (subject.capabilities.streaming) {
        const answer = await refusalOf(await subject.open('SubscribeToTask', { id }, other), subject)
        expectError(answer, 'SubscribeToTask of a task of another caller', 'TASK_NOT_FOUND')
      }
      return pass()
    },
  },
  {
    id: 'auth.foreign-list',
    rules: ['B-77'],
    level: 'must',
    section: 'A2A 1.0 §3.1.4, §13.1',
    title: 'ListTasks returns no task of another caller',
    ...both,
    versions: ['1.0'],
    sends: true,
    async run(subject) {
      const { id, contextId } = await taskBesideOther(subject)
      for (const filter of [{}, contextId === undefined ? {} : { contextId }]) {
        const answer = await subject.call('ListTasks', filter, { credentials: 'other' })
        if (answer.error !== undefined) continue
        const tasks = isObject(answer.result) && Array.isArray(answer.result['tasks']) ? answer.result['tasks'] : []
        expect(
          !tasks.some((task: unknown) => readTask(subject.dialect, task).id === id),
          'ListTasks returns a task of another caller',
          answer,
        )
      }
      return pass()
    },
  },
  {
    id: 'auth.in-task-message',
    rules: ['B-155'],
    level: 'must',
    section: 'A2A 1.0 §7.6.1',
    title: 'A task in AUTH_REQUIRED has a status message that explains what is needed',
    ...both,
    versions: ['1.0'],
    sends: true,
    async run(subject) {
      const { task, exchange } = await authRequiredTask(subject)
      expect((task.statusMessage?.parts.length ?? 0) > 0, 'The status of the task has no message', { exchange })
      return pass()
    },
  },
  {
    id: 'auth.in-task-answer',
    rules: ['B-156'],
    level: 'should',
    section: 'A2A 1.0 §7.6.1',
    title: 'A task in AUTH_REQUIRED accepts messages',
    ...both,
    versions: ['1.0'],
    sends: true,
    async run(subject) {
      const { task } = await authRequiredTask(subject)
      const answer = await subject.send(undefined, {
        taskId: task.id,
        ...(task.contextId === undefined ? {} : { contextId: task.contextId }),
      })
      expectResult(answer, 'A message to a task in AUTH_REQUIRED')
      return pass()
    },
  },
]

/** Throws `NotApplicable` unless the card lists requirements, none of which is empty. */
function requireCredentials({ card }: Subject): void {
  const { json } = card
  const listed: unknown = json['securityRequirements'] ?? json['security']
  const requirements = Array.isArray(listed) ? (listed as unknown[]).filter(isObject) : []
  if (requirements.length === 0) throw new NotApplicable('the card requires no credentials')
  const isEmpty = (requirement: JsonObject): boolean =>
    Object.keys(isObject(requirement['schemes']) ? requirement['schemes'] : requirement).length === 0
  if (requirements.some(isEmpty)) throw new NotApplicable('the card lets anonymous callers in')
}

/** Operations that start nothing, on ids that do not exist: an agent that looks before it asks who calls says "not found". */
function readingCalls(subject: Subject): readonly (readonly [OperationName, JsonObject])[] {
  const id = unknownTaskId(subject)
  return [
    ['GetTask', { id }],
    ...(subject.version === '1.0' ? ([['ListTasks', {}]] as const) : []),
    ['CancelTask', { id }],
    ...(subject.capabilities.streaming ? ([['SubscribeToTask', { id }]] as const) : []),
    ...(subject.capabilities.pushNotifications ? ([['ListTaskPushNotificationConfigs', { taskId: id }]] as const) : []),
  ]
}

async function callWithout(subject: Subject, operation: OperationName, payload: JsonObject): Promise<Answer> {
  const settings: CallSettings = { credentials: 'none' }
  if (operation !== 'SubscribeToTask') return subject.call(operation, payload, settings)
  return refusalOf(await subject.open(operation, payload, settings), subject)
}

/** A refusal that is about the caller: the agent must not have looked for the task. */
function isAuthRefusal({ error, status }: Answer): boolean {
  if (error === undefined) return status === 401 || status === 403
  return error.name !== 'TASK_NOT_FOUND' && error.grpcStatus !== 'NOT_FOUND'
}

/** Wrong credentials in every place where a scheme of the card may want them. */
function wrongCredentials({ card }: Subject): CallSettings {
  const headers: Record<string, string> = {
    authorization: 'Bearer conformance-wrong-token',
    'x-api-key': 'conformance-wrong-key',
  }
  const schemes: unknown = card.json['securitySchemes']
  for (const scheme of Object.values(isObject(schemes) ? schemes : {})) {
    if (!isObject(scheme)) continue
    const key = isObject(scheme['apiKeySecurityScheme']) ? scheme['apiKeySecurityScheme'] : scheme
    const place = key['location'] ?? key['in']
    if (place === 'header' && typeof key['name'] === 'string')
      headers[key['name'].toLowerCase()] = 'conformance-wrong-key'
    if (
      isObject(scheme['httpAuthSecurityScheme']) &&
      String(scheme['httpAuthSecurityScheme']['scheme']).toLowerCase() === 'basic'
    ) {
      headers['authorization'] = `Basic ${Buffer.from('conformance:wrong').toString('base64')}`
    }
  }
  return { credentials: 'none', headers }
}

async function taskBesideOther(subject: Subject): Promise<{ id: string; contextId: string | undefined }> {
  if (subject.profile.otherCaller === undefined)
    throw new Undecided('needs a second caller: set `otherCaller` in the profile')
  const { task } = await subject.finishedTask()
  return { id: task.id, contextId: task.contextId }
}

function authRequiredTask(subject: Subject) {
  return subject.once('auth required task', async () => {
    if (!subject.hasScenario('authRequired')) throw new Undecided('name a message for "authRequired" in the profile')
    const sent = await subject.send('authRequired')
    const id = sent.view.kind === 'task' ? sent.view.task.id : undefined
    if (id === undefined) throw new Undecided('the agent makes no task')
    const got = await subject.settle(id)
    if (got.task.state !== 'TASK_STATE_AUTH_REQUIRED') throw new Undecided(`the task reaches ${got.task.state}`)
    return got
  })
}
