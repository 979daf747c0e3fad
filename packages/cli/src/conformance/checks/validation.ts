/** Invalid messages are refused before any work: each is one that a conforming client never sends. */
import { CheckFailure, fail, notApplicable, pass, undecided, type Check } from '../check.ts'
import { outcomeOf } from '../expect.ts'
import type { Subject } from '../subject.ts'
import { isObject } from '../wire/encode-request.ts'
import type { JsonObject } from '../wire/spelling.ts'
import { allBindings, allVersions, jsonBindings, newRule, v1 } from './scope.ts'

const onMessages = { versions: allVersions, bindings: allBindings, sends: true } as const
const validation = {
  '1.0': 'A2A 1.0 §3.3.2, §5.7',
  '0.3': 'A2A 0.3 §10.2, §8.1',
  '0.2': 'A2A 0.2 §10.2, §8.1',
} as const

/** Refused as invalid, whatever the code of it is over REST. A failed task is no refusal: the agent has worked on it. */
async function expectInvalid(subject: Subject, what: string, payload: JsonObject): Promise<void> {
  const answer = await subject.call('SendMessage', payload)
  const { error } = answer
  if (error === undefined) throw new CheckFailure(`${what} is accepted`, answer.exchange)
  const isInvalid =
    subject.binding === 'JSONRPC'
      ? error.code === -32602 || error.code === -32600
      : subject.binding === 'GRPC'
        ? error.grpcStatus === 'INVALID_ARGUMENT'
        : answer.status === 400 || answer.status === 422
  if (!isInvalid)
    throw new CheckFailure(
      `${what} is answered with ${outcomeOf(answer)} instead of invalid parameters`,
      answer.exchange,
    )
}

const without = (of: JsonObject, field: string): JsonObject =>
  Object.fromEntries(Object.entries(of).filter(([name]) => name !== field))

export const validationChecks: readonly Check[] = [
  {
    ...onMessages,
    id: 'params.missing-message',
    rules: ['B-38'],
    level: 'must',
    section: validation,
    title: 'SendMessage without a message is refused',
    async run(subject) {
      await expectInvalid(subject, 'SendMessage without a message', {})
      return pass()
    },
  },
  {
    ...onMessages,
    id: 'params.missing-parts',
    rules: ['B-38', 'B-39', 'J-9'],
    level: { '1.0': 'must', '0.3': 'must', '0.2': 'must' },
    section: validation,
    title: 'A message without parts, or with an empty list of them, is refused',
    async run(subject) {
      await expectInvalid(subject, 'a message without parts', { message: without(subject.message(), 'parts') })
      await expectInvalid(subject, 'a message with an empty list of parts', {
        message: subject.message(undefined, { parts: [] }),
      })
      return pass()
    },
  },
  {
    ...onMessages,
    id: 'params.missing-role',
    rules: ['B-39', 'J-9'],
    level: { '1.0': 'should', '0.3': 'must', '0.2': 'must' },
    section: { ...validation, '1.0': 'A2A 1.0 §5.7' },
    title: 'A message without a role is refused',
    async run(subject) {
      await expectInvalid(subject, 'a message without a role', { message: without(subject.message(), 'role') })
      return pass()
    },
  },
  {
    ...onMessages,
    id: 'params.missing-message-id',
    rules: ['B-39', 'J-9'],
    level: { '1.0': 'should', '0.3': 'must', '0.2': 'must' },
    section: { ...validation, '1.0': 'A2A 1.0 §5.7' },
    title: 'A message without a messageId is refused',
    async run(subject) {
      await expectInvalid(subject, 'a message without a messageId', {
        message: without(subject.message(), 'messageId'),
      })
      return pass()
    },
  },
  {
    ...onMessages,
    id: 'params.empty-part',
    rules: ['B-39', 'T-17'],
    level: { '1.0': 'must', '0.3': 'must', '0.2': 'must' },
    section: { '1.0': 'A2A 1.0 §4.1.6, §3.3.2', '0.3': 'A2A 0.3 §6.5, §10.2', '0.2': 'A2A 0.2 §6.5, §10.2' },
    title: 'A part without content is refused',
    async run(subject) {
      await expectInvalid(subject, 'a part without content', { message: subject.message(undefined, { parts: [{}] }) })
      return pass()
    },
  },
  {
    ...onMessages,
    id: 'params.two-contents',
    rules: ['B-38', 'J-12'],
    level: newRule,
    section: { '1.0': 'A2A 1.0 §4.1.6', '0.3': 'A2A 0.3 §6.5', '0.2': 'A2A 0.2 §6.5' },
    title: 'A part with two contents is refused',
    versions: v1,
    // Protobuf keeps the last one, and cannot tell.
    bindings: jsonBindings,
    async run(subject) {
      const parts = [{ text: 'two', url: 'https://example.com/two.txt' }]
      await expectInvalid(subject, 'a part with text and url', { message: subject.message(undefined, { parts }) })
      return pass()
    },
  },
  {
    ...onMessages,
    id: 'params.wrong-types',
    rules: ['B-38'],
    level: 'must',
    section: validation,
    title: 'Fields of the wrong type are refused',
    bindings: jsonBindings,
    async run(subject) {
      const wrong: readonly (readonly [string, JsonObject])[] = [
        ['a message that is a text', { message: 'hello' }],
        ['parts that are an object', { message: subject.message(undefined, { parts: { text: 'hello' } }) }],
        ['a messageId that is an object', { message: subject.message(undefined, { messageId: { a: 1 } }) }],
        ['an unknown role', { message: subject.message(undefined, { role: 'ROLE_CONFORMANCE' }) }],
      ]
      for (const [what, payload] of wrong) await expectInvalid(subject, what, payload)
      return pass()
    },
  },
  {
    ...onMessages,
    id: 'params.field-violations',
    rules: ['B-38'],
    level: 'should',
    section: 'A2A 1.0 §3.3.2',
    title: 'A validation error tells which parameter is wrong',
    versions: v1,
    async run(subject) {
      const answer = await subject.call('SendMessage', { message: subject.message(undefined, { parts: [] }) })
      if (answer.error === undefined) return undecided('the invalid message is accepted')
      const told = JSON.stringify([answer.error.message, answer.error.details])
      return /parts/i.test(told) ? pass() : fail('neither the message nor the details name "parts"', answer)
    },
  },
  {
    ...onMessages,
    id: 'params.unknown-fields',
    rules: ['J-10'],
    level: { '1.0': 'should', '0.3': 'info', '0.2': 'info' },
    section: { '1.0': 'A2A 1.0 §5.7', '0.3': 'A2A 0.3 §6 does not say it', '0.2': 'A2A 0.2 §6 does not say it' },
    title: 'Unrecognized fields are ignored',
    bindings: jsonBindings,
    async run(subject) {
      await subject.firstAnswer()
      const message = subject.message('complete', { conformanceUnknownField: { a: 1 } })
      const answer = await subject.call('SendMessage', { message, conformanceUnknownField: 'x' })
      return answer.error === undefined
        ? pass()
        : fail(`a message with unknown fields is answered with ${outcomeOf(answer)}`, answer)
    },
  },
  {
    ...onMessages,
    id: 'params.unsupported-media-type',
    rules: ['B-70'],
    level: { '1.0': 'must', '0.3': 'must', '0.2': 'should' },
    section: { '1.0': 'A2A 1.0 §3.1.1, §3.3.2', '0.3': 'A2A 0.3 §8.2, §11.1.5', '0.2': 'A2A 0.2 §8.2' },
    title: 'A file of a media type that the card does not accept is refused with ContentTypeNotSupportedError',
    async run(subject) {
      const type = 'application/x-conformance-unsupported'
      if (acceptsAnything(subject, type)) return notApplicable('the card accepts every media type')
      const parts = [{ raw: 'Y29uZm9ybWFuY2U=', filename: 'conformance.bin', mediaType: type }]
      const answer = await subject.call('SendMessage', { message: subject.message('complete', { parts }) })
      if (answer.error?.name === 'CONTENT_TYPE_NOT_SUPPORTED') return pass()
      if (answer.error === undefined) return fail(`a part of ${type} is accepted`, answer)
      const isFine =
        answer.error.name === undefined &&
        ['INVALID_ARGUMENT', '400', '415'].includes(answer.error.grpcStatus ?? String(answer.status))
      return isFine ? pass() : fail(`it is answered with ${outcomeOf(answer)}`, answer)
    },
  },
  {
    ...onMessages,
    id: 'params.history-length',
    rules: ['B-38', 'B-74'],
    level: { '1.0': 'must', '0.3': 'info', '0.2': 'info' },
    section: {
      '1.0': 'A2A 1.0 §3.3.2, §6.5',
      '0.3': 'A2A 0.3 §7.3.1 names no range',
      '0.2': 'A2A 0.2 §7.3.1 names no range',
    },
    title: 'A negative historyLength is refused',
    async run(subject) {
      const { task } = await subject.finishedTask()
      const answer = await subject.call('GetTask', { id: task.id, historyLength: -5 })
      return answer.error === undefined ? fail('GetTask with historyLength -5 returns a result', answer) : pass()
    },
  },
]

/** Whether a card, or one of its skills, takes every binary media type or this one. */
function acceptsAnything(subject: Subject, type: string): boolean {
  const { json } = subject.card
  const skills = Array.isArray(json['skills']) ? (json['skills'] as unknown[]).filter(isObject) : []
  const modes = [json['defaultInputModes'], ...skills.map(({ inputModes }) => inputModes)].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  )
  // RFC 2046 §4 reads an unknown subtype of `application` as `octet-stream`.
  const wide: readonly unknown[] = ['*/*', '*', 'file', 'application/*', 'application/octet-stream', type]
  return modes.length === 0 || modes.some((mode) => wide.includes(mode))
}
