import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError, invalidParams, taskNotFound, type ErrorCode } from '../../model/error.ts'
import type { Operation } from '../../model/operation.ts'
import type { StreamEvent, Task } from '../../model/task.ts'
import { v0_2 } from '../v0_2/index.ts'
import type { Dialect } from '../version.ts'
import { v0_3 } from './index.ts'

const { json, proto } = v0_3

function fields(dialect: Dialect, operation: Operation, payload: unknown): string[] {
  try {
    dialect.decodeRequest(operation, payload)
  } catch (error) {
    assert.ok(error instanceof A2AError && error.code === 'INVALID_PARAMS')
    return (error.details.violations ?? []).map(({ field, description }) => `${field} ${description}`)
  }
  return []
}

const status = { state: 'TASK_STATE_WORKING' as const, timestamp: '2026-01-02T03:04:05.678Z' }
const update: StreamEvent = { statusUpdate: { taskId: 't', contextId: 'c', status, metadata: { a: '}' } } }

describe('the output of 0.3', () => {
  it('has the kind as the first property of every object that has one', () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT' as const, parts: [{ text: 'x' }, { data: {} }, { url: 'u' }] }
    const task: Task = { id: 't', contextId: 'c', status: { ...status, message }, history: [message] }
    for (const event of [{ task }, { message }, update]) {
      const text = JSON.stringify(json.writeEvent(event))
      assert.match(text, /^\{"kind":/)
      assert.doesNotMatch(text, /[^{]"kind":/)
    }
  })

  it('has final on every status update, true or false, and nowhere else [B-97]', () => {
    for (const final of [true, false]) {
      const text = json.seal(JSON.stringify(json.writeEvent(update)), update, final)
      assert.deepEqual(JSON.parse(text), {
        kind: 'status-update',
        taskId: 't',
        contextId: 'c',
        status: { state: 'working', timestamp: status.timestamp },
        metadata: { a: '}' },
        final,
      })
      const inner = JSON.parse(proto.seal(JSON.stringify(proto.writeEvent(update)), update, final)) as Record<
        string,
        unknown
      >
      assert.deepEqual(Object.keys(inner), ['statusUpdate'])
      assert.equal((inner['statusUpdate'] as Record<string, unknown>)['final'], final)
    }
    const task: StreamEvent = { task: { id: 't', contextId: 'c', status } }
    assert.equal(json.seal(JSON.stringify(json.writeEvent(task)), task, true), JSON.stringify(json.writeEvent(task)))
  })

  it('spells a canceled task in three ways, as its peers do', () => {
    const task: Task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_CANCELED' } }
    assert.match(JSON.stringify(json.writeResult('CancelTask', task)), /"state":"canceled"/)
    assert.match(JSON.stringify(proto.writeResult('CancelTask', task)), /"state":"TASK_STATE_CANCELLED"/)
  })

  it('answers a delete with null over JSON-RPC and with an empty object over REST', () => {
    assert.equal(JSON.stringify(json.writeResult('DeleteTaskPushNotificationConfig', undefined)), 'null')
    assert.equal(JSON.stringify(proto.writeResult('DeleteTaskPushNotificationConfig', undefined)), '{}')
  })
})

describe('a 0.3 request', () => {
  it('is refused with the field names of its dialect [B-38]', () => {
    assert.deepEqual(fields(json, 'SendMessage', { message: {} }), [
      'message.messageId is required',
      'message.role is required',
      'message.parts is required',
    ])
    assert.deepEqual(fields(proto, 'SendMessage', { request: {} }), [
      'request.messageId is required',
      'request.role is required',
      'request.content is required',
    ])
    assert.deepEqual(fields(proto, 'SendMessage', {}), ['message is required'])
  })

  it('gets errors with the terms of its dialect for roles, parts and ids [B-38]', () => {
    const message = { messageId: 'm', role: 'admin', parts: [{ kind: 'file', file: {} }] }
    assert.deepEqual(fields(json, 'SendMessage', { message }), [
      'message.role must be user or agent',
      'message.parts[0].file must have one of bytes and uri',
    ])
    const content = [{ file: {} }, {}]
    assert.deepEqual(fields(proto, 'SendMessage', { message: { messageId: 'm', role: 'admin', content } }), [
      'message.role must be ROLE_USER or ROLE_AGENT',
      'message.content[0].file must have one of fileWithBytes and fileWithUri',
      'message.content[1] must have one of text, file and data',
    ])
    assert.deepEqual(fields(json, 'GetTask', {}), ['id is required'])
    assert.deepEqual(fields(proto, 'GetTask', {}), ['name is required'])
    assert.deepEqual(fields(proto, 'ListTaskPushNotificationConfigs', {}), ['parent is required'])
    assert.deepEqual(fields(proto, 'DeleteTaskPushNotificationConfig', { id: 't' }), ['name is required'])
    assert.deepEqual(fields(proto, 'CreateTaskPushNotificationConfig', {}), [
      'parent is required',
      'config.pushNotificationConfig is required',
    ])
    for (const dialect of [json, proto]) {
      const text = JSON.stringify(fields(dialect, 'SendMessage', { message: { role: 5, parts: [{}], content: [{}] } }))
      assert.doesNotMatch(text, dialect === json ? /ROLE_|TASK_STATE_|content/ : /"parts|uri\b/)
    }
  })

  it('must have parts of a known kind, each with one content [J-12]', () => {
    const parts = [
      {},
      { kind: 'text' },
      { kind: 'file', file: { bytes: 'aGk=', uri: 'https://x' } },
      { kind: 'file', file: {} },
      { text: 'a', data: {} },
      { kind: 'data' },
      { kind: 'constructor' },
      'x',
    ]
    assert.deepEqual(fields(json, 'SendMessage', { message: { messageId: 'm', role: 'user', parts } }), [
      'message.parts[0] must be of the kind text, file or data',
      'message.parts[1].text is required',
      'message.parts[2].file must have only one of bytes and uri',
      'message.parts[3].file must have one of bytes and uri',
      'message.parts[4] must have only one of text, file and data',
      'message.parts[5].data is required',
      'message.parts[6] must be of the kind text, file or data',
      'message.parts[7] must be an object',
    ])
  })

  it('whose message has another kind is refused', () => {
    const message = { kind: 'task', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] }
    assert.deepEqual(fields(json, 'SendMessage', { message }), ['message.kind must be "message"'])
  })

  it('without blocking waits [B-66]', () => {
    const message = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] }
    for (const configuration of [undefined, {}, { blocking: true }]) {
      const request = json.decodeRequest('SendMessage', { message, configuration })
      assert.notEqual(request.configuration?.returnImmediately, true)
    }
    const request = json.decodeRequest('SendMessage', { message, configuration: { blocking: false } })
    assert.equal(request.configuration?.returnImmediately, true)
  })

  it('with a webhook and without blocking does not wait [B-66]', () => {
    const message = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] }
    const pushNotificationConfig = { url: 'https://client.example.com/hook' }
    const waits = (configuration: object): boolean =>
      json.decodeRequest('SendMessage', { message, configuration }).configuration?.returnImmediately !== true
    assert.equal(waits({ pushNotificationConfig }), false)
    assert.equal(waits({ pushNotificationConfig, blocking: null }), false)
    assert.equal(waits({ pushNotificationConfig, blocking: true }), true)
  })

  it('in ProtoJSON with a configuration without blocking does not wait [B-66]', () => {
    const message = { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'x' }] }
    const waits = (configuration?: object): boolean =>
      proto.decodeRequest('SendMessage', { message, configuration }).configuration?.returnImmediately !== true
    assert.deepEqual([waits(), waits({}), waits({ historyLength: 3 })], [true, false, false])
    assert.deepEqual([waits({ blocking: true }), waits({ blocking: false })], [true, false])
  })

  it('reads a historyLength of 0 as none over JSON-RPC and as no limit over REST [B-75]', () => {
    assert.deepEqual(json.decodeRequest('GetTask', { id: 't', historyLength: 0 }), { id: 't', historyLength: 0 })
    assert.deepEqual(proto.decodeRequest('GetTask', { id: 't', historyLength: '0' }), { id: 't' })
    assert.deepEqual(fields(json, 'GetTask', { id: 't', historyLength: -1 }), [
      'historyLength must be an integer of at least 0',
    ])
  })

  it('for a push config must have all required fields', () => {
    assert.deepEqual(fields(json, 'CreateTaskPushNotificationConfig', {}), [
      'taskId is required',
      'pushNotificationConfig is required',
    ])
    assert.deepEqual(fields(json, 'CreateTaskPushNotificationConfig', { taskId: 't', pushNotificationConfig: {} }), [
      'pushNotificationConfig.url is required',
    ])
    assert.deepEqual(fields(json, 'DeleteTaskPushNotificationConfig', { id: 't' }), [
      'pushNotificationConfigId is required',
    ])
    assert.deepEqual(fields(json, 'GetTaskPushNotificationConfig', {}), ['id is required'])
  })

  it('cannot list tasks [B-87]', () => {
    assert.equal(v0_3.spelling.methods.ListTasks, undefined)
    for (const dialect of [json, proto]) {
      assert.throws(() => dialect.decodeRequest('ListTasks', {}), { code: 'UNSUPPORTED_OPERATION' })
      assert.throws(() => dialect.encodeRequest('ListTasks', {}), { code: 'UNSUPPORTED_OPERATION' })
    }
  })

  it('for the extended card needs no params', () => {
    assert.deepEqual(json.decodeRequest('GetExtendedAgentCard', undefined), {})
    assert.deepEqual(fields(json, 'GetExtendedAgentCard', []), ['params must be an object'])
  })
})

describe('errors of 0.3', () => {
  it('carry a plain object, and no code of 1.0 for a missing extension [B-144]', () => {
    const violations = [{ field: 'id', description: 'is required' }]
    assert.deepEqual(json.errorData(taskNotFound('t1')), { reason: 'TASK_NOT_FOUND', taskId: 't1' })
    assert.deepEqual(json.errorData(invalidParams(violations)), { reason: 'INVALID_PARAMS', violations })
    const missing = new A2AError('EXTENSION_SUPPORT_REQUIRED', 'Extension required', { missingExtensions: 'u' })
    assert.deepEqual(proto.errorBody(missing), {
      code: -32600,
      message: 'Extension required',
      data: { reason: 'EXTENSION_SUPPORT_REQUIRED', missingExtensions: 'u' },
      type: 'InvalidRequestError',
      error: 'io.a2a.spec.InvalidRequestError',
    })
    assert.equal(json.decodeError(json.errorBody(missing)).code, 'EXTENSION_SUPPORT_REQUIRED')
  })

  it('have over REST the class names by which the SDKs for Python and Java know them [A-6]', () => {
    const named = (code: ErrorCode): unknown[] => {
      const { type, error } = proto.errorBody(new A2AError(code, 'x')) as Record<string, unknown>
      return [type, error]
    }
    const java = 'io.a2a.spec'
    assert.deepEqual(named('TASK_NOT_FOUND'), ['TaskNotFoundError', `${java}.TaskNotFoundError`])
    assert.deepEqual(named('PARSE_ERROR'), ['JSONParseError', `${java}.JSONParseError`])
    assert.deepEqual(named('INTERNAL'), ['InternalError', `${java}.InternalError`])
    assert.deepEqual(named('CONTEXT_REJECTED'), ['InvalidParamsError', `${java}.InvalidParamsError`])
    assert.deepEqual(named('PUSH_NOTIFICATION_NOT_SUPPORTED'), [
      'PushNotificationNotSupportedError',
      `${java}.PushNotificationNotSupportedError`,
    ])
    assert.deepEqual(named('EXTENDED_AGENT_CARD_NOT_CONFIGURED'), [
      'ExtendedAgentCardNotConfiguredError',
      `${java}.AuthenticatedExtendedCardNotConfiguredError`,
    ])
  })

  it('have the code as their reason, also if details have a more specific one [S4-12]', () => {
    const down = new A2AError('AGENT_UNAVAILABLE', 'x', { reason: 'UNREACHABLE', retryAfterSeconds: '5' })
    const data = { reason: 'AGENT_UNAVAILABLE', cause: 'UNREACHABLE', retryAfterSeconds: '5' }
    assert.deepEqual(json.errorData(down), data)
  })
})

describe('0.2', () => {
  it('is 0.3 without a method for the extended card, which is an HTTP GET there', () => {
    const { GetExtendedAgentCard, ...others } = v0_3.spelling.methods
    assert.equal(GetExtendedAgentCard, 'agent/getAuthenticatedExtendedCard')
    assert.deepEqual(v0_2.spelling.methods, others)
    assert.equal(v0_2.spelling.aliases, undefined)
    assert.deepEqual(v0_3.spelling.aliases, { 'agent/authenticatedExtendedCard': 'GetExtendedAgentCard' })
  })
})

describe('an artifact as an older draft has it', () => {
  it('is read from an index and a single part, which the official form does not have [S2-34]', () => {
    const event = json.decodeEvent({
      kind: 'artifact-update',
      taskId: 't1',
      contextId: 'c1',
      index: 2,
      part: { kind: 'text', text: 'so', index: 0, append: true },
    })
    assert.ok('artifactUpdate' in event)
    const { artifact, append } = event.artifactUpdate
    assert.deepEqual([artifact.artifactId, artifact.parts, append], ['artifact-2', [{ text: 'so' }], true])
    const written = JSON.stringify(json.writeEvent(event))
    assert.ok(!written.includes('"index"') && !written.includes('"part":'))
  })

  it('is recognized without `kind` [S2-34]', () => {
    const event = json.decodeEvent({ taskId: 't1', contextId: 'c1', index: 0, part: { kind: 'text', text: 'so' } })
    assert.ok('artifactUpdate' in event)
  })
})
