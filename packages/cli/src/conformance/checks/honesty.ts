/** Whether the agent does what its card declares: interfaces, capabilities, required extensions. */
import { CheckFailure, fail, notApplicable, pass, undecided, type Check } from '../check.ts'
import { requiredExtensionsOf } from '../create-subject.ts'
import { expectError, isErrorNamed, outcomeOf, unknownTaskId } from '../expect.ts'
import { WireError } from '../wire/http-wire.ts'
import { cardViolations } from './card-shape.ts'
import { allBindings, allVersions, errorCodeLevel, v1 } from './scope.ts'

const everywhere = { versions: allVersions, bindings: allBindings, sends: false } as const

/** The push operations with a task that does not exist: without the capability they are refused before it is looked up. */
const pushCalls = [
  ['CreateTaskPushNotificationConfig', { url: 'https://example.com/webhook' }],
  ['GetTaskPushNotificationConfig', { id: 'conformance' }],
  ['ListTaskPushNotificationConfigs', {}],
  ['DeleteTaskPushNotificationConfig', { id: 'conformance' }],
] as const

export const honestyChecks: readonly Check[] = [
  {
    ...everywhere,
    id: 'honesty.interface',
    rules: ['B-16', 'B-19', 'B-168'],
    level: { '1.0': 'must', '0.3': 'must', '0.2': 'info' },
    section: { '1.0': 'A2A 1.0 §8.3.1, §5.2', '0.3': 'A2A 0.3 §5.6.1, §5.6.2', '0.2': 'A2A 0.2 §5.5.5' },
    title: 'A declared interface answers in its binding and version',
    async run(subject) {
      try {
        const answer = await subject.call('GetTask', { id: unknownTaskId(subject) })
        if (answer.malformed !== undefined)
          return fail(`the response is no ${subject.binding}: ${answer.malformed}`, answer)
        const { error } = answer
        if (error === undefined) return fail('GetTask of an unknown id returns a result', answer)
        if (isErrorNamed(answer, 'TASK_NOT_FOUND') && (error.name !== undefined || subject.version !== '1.0'))
          return pass()
        if (
          error.status === 401 ||
          error.status === 403 ||
          /^(UNAUTHENTICATED|PERMISSION_DENIED)$/.test(error.grpcStatus ?? '')
        ) {
          return undecided('the interface requires credentials')
        }
        const isSilent = error.name === undefined && error.code === undefined && error.message === undefined
        if (
          isSilent ||
          error.grpcStatus === 'UNIMPLEMENTED' ||
          error.name === 'METHOD_NOT_FOUND' ||
          error.name === 'VERSION_NOT_SUPPORTED'
        ) {
          return fail(`GetTask is answered with ${outcomeOf(answer)}`, answer)
        }
        return pass(`GetTask of an unknown id: ${outcomeOf(answer)}`)
      } catch (reason) {
        if (reason instanceof WireError)
          throw new CheckFailure(`the interface does not answer: ${reason.message}`, reason.exchange)
        throw reason
      }
    },
  },
  {
    ...everywhere,
    id: 'honesty.push-not-declared',
    rules: ['B-115'],
    level: errorCodeLevel,
    section: { '1.0': 'A2A 1.0 §3.3.4', '0.3': 'A2A 0.3 §8.2, §11.1.5', '0.2': 'A2A 0.2 §8.2' },
    title: 'Without the capability, push notification configs are refused with PushNotificationNotSupportedError',
    async run(subject) {
      if (subject.capabilities.pushNotifications) return notApplicable('the card declares push notifications')
      for (const [operation, fields] of pushCalls) {
        const answer = await subject.call(operation, { taskId: unknownTaskId(subject), ...fields })
        // 0.x has no list and no delete before 0.2.5, and says nothing of methods that need a capability.
        const allowed = subject.version === '1.0' ? [] : ['METHOD_NOT_FOUND', 'UNSUPPORTED_OPERATION']
        expectError(answer, operation, 'PUSH_NOTIFICATION_NOT_SUPPORTED', ...allowed)
      }
      return pass()
    },
  },
  {
    ...everywhere,
    id: 'honesty.streaming-not-declared',
    rules: ['B-88', 'B-106'],
    level: errorCodeLevel,
    section: { '1.0': 'A2A 1.0 §3.3.4', '0.3': 'A2A 0.3 §8.2, §11.1.5', '0.2': 'A2A 0.2 §8.2' },
    title: 'Without the capability, streams are refused with UnsupportedOperationError',
    sends: true,
    async run(subject) {
      if (subject.capabilities.streaming) return notApplicable('the card declares streaming')
      const allowed = subject.version === '1.0' ? [] : ['METHOD_NOT_FOUND']
      const calls = [
        ['SendStreamingMessage', { message: subject.message() }],
        ['SubscribeToTask', { id: unknownTaskId(subject) }],
      ] as const
      for (const [operation, payload] of calls) {
        const stream = await subject.open(operation, payload)
        if (stream.answer === undefined) {
          stream.close()
          return fail(`${operation} opens a stream`, stream)
        }
        expectError(stream.answer, operation, 'UNSUPPORTED_OPERATION', ...allowed)
      }
      return pass()
    },
  },
  {
    ...everywhere,
    versions: ['1.0', '0.3'],
    id: 'honesty.extended-card-not-declared',
    rules: ['B-136'],
    level: { '1.0': 'must', '0.3': 'info' },
    section: { '1.0': 'A2A 1.0 §3.3.4', '0.3': 'A2A 0.3 §7.10 names no error' },
    title: 'Without the capability, GetExtendedAgentCard is refused with UnsupportedOperationError',
    async run(subject) {
      if (subject.capabilities.extendedAgentCard) return notApplicable('the card declares an extended card')
      const answer = await subject.call('GetExtendedAgentCard', {})
      const allowed =
        subject.version === '1.0' ? [] : ['METHOD_NOT_FOUND', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'TASK_NOT_FOUND']
      expectError(answer, 'GetExtendedAgentCard', 'UNSUPPORTED_OPERATION', ...allowed)
      return pass()
    },
  },
  {
    ...everywhere,
    versions: ['1.0', '0.3'],
    id: 'honesty.extended-card-declared',
    rules: ['B-136'],
    level: { '1.0': 'must', '0.3': 'must' },
    section: { '1.0': 'A2A 1.0 §3.1.11, §3.3.4', '0.3': 'A2A 0.3 §7.10' },
    title: 'A declared extended card is served, asks for credentials, or is not configured',
    async run(subject) {
      if (!subject.capabilities.extendedAgentCard) return notApplicable('the card declares no extended card')
      const answer = await subject.call('GetExtendedAgentCard', {})
      const { error } = answer
      if (error === undefined && answer.malformed === undefined) {
        const json = answer.result as Readonly<Record<string, unknown>>
        // Protobuf omits empty lists.
        const missing = subject.binding === 'GRPC' ? [] : cardViolations(json ?? {}, subject.version)
        return missing.length === 0 ? pass() : fail(`the extended card: ${missing.join('; ')}`, answer)
      }
      const isChallenge =
        error?.status === 401 ||
        error?.status === 403 ||
        /^(UNAUTHENTICATED|PERMISSION_DENIED)$/.test(error?.grpcStatus ?? '')
      if (isChallenge || (error !== undefined && error.code !== undefined && error.code <= -32080)) {
        return undecided(`needs credentials that may read it: ${outcomeOf(answer)}`)
      }
      expectError(answer, 'GetExtendedAgentCard', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED')
      return pass('declared, and not configured')
    },
  },
  {
    ...everywhere,
    versions: v1,
    id: 'honesty.required-extension',
    rules: ['B-144'],
    level: 'must',
    section: 'A2A 1.0 §3.3.4',
    title: 'A message without a required extension is refused with ExtensionSupportRequiredError',
    sends: true,
    async run(subject) {
      const [required] = requiredExtensionsOf(subject.card.json)
      if (required === undefined) return notApplicable('the card requires no extension')
      const answer = await subject.send('complete', {}, undefined, { headers: { 'a2a-extensions': undefined } })
      expectError(answer, `a message without ${required}`, 'EXTENSION_SUPPORT_REQUIRED')
      return pass()
    },
  },
  {
    ...everywhere,
    id: 'honesty.unknown-extension',
    rules: ['B-143', 'B-145'],
    level: { '1.0': 'should', '0.3': 'info', '0.2': 'info' },
    section: { '1.0': 'A2A 1.0 §4.6.3', '0.3': 'A2A 0.3 §5.5.2.1', '0.2': 'A2A 0.2 §5.5.2.1' },
    title: 'An unknown extension in a request is ignored',
    async run(subject) {
      const name = subject.version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions'
      const unknown = 'https://example.com/extensions/conformance-unknown/v1'
      const value = [...requiredExtensionsOf(subject.card.json), unknown].join(', ')
      const [plain, extended] = [
        await subject.call('GetTask', { id: unknownTaskId(subject) }),
        await subject.call('GetTask', { id: unknownTaskId(subject) }, { headers: { [name]: value } }),
      ]
      const same = plain.error?.name === extended.error?.name && plain.status === extended.status
      if (!same)
        return fail(`with it, GetTask is answered with ${outcomeOf(extended)} instead of ${outcomeOf(plain)}`, extended)
      const echoed = extended.headers[name] ?? ''
      return echoed.includes(unknown) ? fail('the agent lists it as activated', extended) : pass()
    },
  },
]
