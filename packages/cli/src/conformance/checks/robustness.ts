/** Messages that are wrong in one field: they are refused as invalid parameters before any work. */
import { pass, Undecided, type Check, type VersionName } from '../check.ts'
import { expect, expectError, expectResult, outcomeOf } from '../expect.ts'
import type { Subject } from '../subject.ts'
import type { JsonObject } from '../wire/spelling.ts'
import { expectNoInternals } from './limits.ts'

const both = { versions: ['1.0', '0.3', '0.2'], bindings: ['JSONRPC', 'HTTP+JSON', 'GRPC'], sends: true } as const
const json = { ...both, bindings: ['JSONRPC', 'HTTP+JSON'] } as const
const sectionOf = (modern: string, legacy: string) => ({
  '1.0': `A2A 1.0 ${modern}`,
  '0.3': `A2A 0.3 ${legacy}`,
  '0.2': `A2A 0.2 ${legacy}`,
})
const validation = sectionOf('§3.3.2 (validate all input)', '§8.1')
const required = sectionOf('§5.7 (required fields)', '§6.4, §8.1')

export const robustnessChecks: readonly Check[] = [
  {
    id: 'robustness.message-missing',
    rules: ['B-38', 'J-9'],
    level: 'must',
    section: validation,
    title: 'A send without a message is refused as invalid',
    ...both,
    async run(subject) {
      await refuse(subject, {}, 'A send without a message')
      return pass()
    },
  },
  {
    id: 'robustness.parts-missing',
    rules: ['J-9', 'B-39'],
    level: 'should',
    section: required,
    title: 'A message without parts is refused as invalid',
    ...both,
    async run(subject) {
      await refuseMessage(subject, { parts: undefined }, 'A message without parts')
      await refuseMessage(subject, { parts: [] }, 'A message with an empty list of parts')
      return pass()
    },
  },
  {
    id: 'robustness.parts-type',
    rules: ['B-38'],
    level: 'must',
    section: validation,
    title: 'Parts that are no list of objects are refused as invalid',
    ...json,
    async run(subject) {
      for (const parts of ['zzz', [null], ['text'], [42]]) {
        await refuseMessage(subject, { parts }, `A message with the parts ${JSON.stringify(parts)}`)
      }
      return pass()
    },
  },
  {
    id: 'robustness.part-empty',
    rules: ['B-39'],
    level: { '1.0': 'must', '0.3': 'must', '0.2': 'must' },
    section: sectionOf('§4.1.6 (a part has exactly one content)', '§6.5'),
    title: 'A part without content is refused as invalid',
    ...json,
    async run(subject) {
      await refuseMessage(subject, { parts: [{}] }, 'A message with an empty part')
      return pass()
    },
  },
  {
    id: 'robustness.role-missing',
    rules: ['J-9', 'B-39'],
    level: 'should',
    section: required,
    title: 'A message without a role is refused as invalid',
    ...both,
    async run(subject) {
      await refuseMessage(subject, { role: undefined }, 'A message without a role')
      return pass()
    },
  },
  {
    id: 'robustness.role-unknown',
    rules: ['J-2', 'B-38'],
    level: 'must',
    section: sectionOf('§4.1.5, §5.5', '§6.4'),
    title: 'A role that does not exist is refused as invalid',
    ...json,
    async run(subject) {
      await refuseMessage(subject, { role: 'HACKER' }, 'A message with the role HACKER')
      return pass()
    },
  },
  {
    id: 'robustness.role-agent',
    rules: ['B-39'],
    level: 'info',
    section: sectionOf('§4.1.5 (silent about refusing)', '§6.4'),
    title: 'A message of a client in the role of an agent is refused as invalid',
    ...both,
    async run(subject) {
      await refuseMessage(subject, { role: 'ROLE_AGENT' }, 'A message in the role of an agent')
      return pass()
    },
  },
  {
    id: 'robustness.message-id-missing',
    rules: ['J-9', 'B-39'],
    level: 'should',
    section: required,
    title: 'A message without a messageId is refused as invalid',
    ...both,
    async run(subject) {
      await refuseMessage(subject, { messageId: undefined }, 'A message without a messageId')
      return pass()
    },
  },
  {
    id: 'robustness.field-types',
    rules: ['B-38'],
    level: 'must',
    section: validation,
    title: 'Fields of a wrong type are refused as invalid',
    ...json,
    async run(subject) {
      await refuseMessage(subject, { messageId: {} }, 'A message with an object as messageId')
      await refuseMessage(subject, { contextId: ['a'] }, 'A message with a list as contextId')
      await refuse(subject, { message: 'hello' }, 'A text instead of a message')
      await refuse(
        subject,
        { message: subject.message('complete'), configuration: { historyLength: 'many' } },
        'A historyLength of "many"',
      )
      return pass()
    },
  },
  {
    id: 'robustness.base64',
    rules: ['B-39', 'J-4'],
    level: 'info',
    section: sectionOf('§4.1.6, §5.5 (ProtoJSON)', '§6.6'),
    title: 'Bytes that are not base64 are refused as invalid',
    ...json,
    async run(subject) {
      const parts = [{ text: 'A file' }, { raw: '***', filename: 'a.txt', mediaType: 'text/plain' }]
      const answer = await subject.call('SendMessage', { message: subject.message('complete', { parts }) })
      expectError(answer, 'A file of invalid base64', 'INVALID_PARAMS', 'INVALID_REQUEST', 'CONTENT_TYPE_NOT_SUPPORTED')
      return pass()
    },
  },
  {
    id: 'robustness.unknown-fields',
    rules: ['J-10'],
    level: 'should',
    section: sectionOf('§5.7 (unrecognized fields)', '§6 (silent)'),
    title: 'Fields that the agent does not know are ignored',
    ...json,
    versions: ['1.0'],
    async run(subject) {
      await subject.firstAnswer()
      const message = subject.message('complete', { conformanceUnknownField: { a: [1] } })
      const answer = await subject.call('SendMessage', { message, conformanceUnknownField: true })
      expectResult(answer, 'A message with an unknown field')
      return pass()
    },
  },
  {
    id: 'robustness.names-the-field',
    rules: ['B-38'],
    level: { '1.0': 'should', '0.3': 'info', '0.2': 'info' },
    section: sectionOf('§3.3.2 (which parameters failed, and why)', '§8.1'),
    title: 'The refusal of an invalid message names the field',
    ...json,
    async run(subject) {
      const answer = await subject.call('SendMessage', { message: subject.message('complete', { parts: 'zzz' }) })
      if (answer.error === undefined) throw new Undecided('the agent accepts an invalid message')
      const text = `${answer.error.message ?? ''} ${JSON.stringify(answer.error.details)} ${JSON.stringify(answer.error.raw)}`
      expect(/parts|content/i.test(text), `The refusal does not name "parts": ${outcomeOf(answer)}`, answer)
      return pass()
    },
  },
  {
    id: 'robustness.internals',
    rules: ['B-38', 'B-50'],
    level: 'info',
    section: 'A2A 1.0 §3.3.2 (errors are for the client; the text is silent about internals)',
    title: 'Errors and failed tasks show nothing of the server: no exception texts, no stack traces, no paths',
    ...json,
    async run(subject) {
      for (const parts of [[null], 'zzz', [{ raw: {} }]]) {
        const answer = await subject.call('SendMessage', { message: subject.message('complete', { parts }) })
        expectNoInternals(answer, `A message with the parts ${JSON.stringify(parts)}`)
      }
      if (!subject.hasScenario('fail'))
        return pass('without a task that fails: name a message for "fail" in the profile')
      const failed = await subject.send('fail')
      const body = failed.exchange.response?.body ?? ''
      const leaked =
        /\w+:\/\/[^\s"]*:[^\s"]*@[^\s"]*|\bat \S+ \(?(?:file:|\/)|(?:TypeError|ReferenceError|Error): /.exec(body)
      expect(leaked === null, `A task that fails shows "${leaked?.[0].slice(0, 60)}"`, failed)
      return pass()
    },
  },
  {
    id: 'robustness.content-type',
    rules: ['B-41'],
    level: 'info',
    section: sectionOf('§9.1, §11.1 (the request is JSON)', '§3.2'),
    title: 'A request that is not labelled as JSON is refused',
    ...json,
    async run(subject) {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: subject.version === '1.0' ? 'GetTask' : 'tasks/get',
        params: { id: 'conformance-none' },
      })
      const path = subject.binding === 'JSONRPC' ? {} : { path: restSendPath(subject.version) }
      const answer = await subject.http({ ...path, body, headers: { 'content-type': 'text/html' } })
      const isRefused = answer.status >= 400 || /-32600|-32700|-32005|-32602/.test(answer.text)
      expect(isRefused && answer.status < 500, `A request labelled text/html is answered with ${answer.status}`, {
        exchange: answer,
      })
      return pass()
    },
  },
]

const restSendPath = (version: VersionName): string => (version === '1.0' ? '/message:send' : '/v1/message:send')

function refuseMessage(subject: Subject, fields: JsonObject, what: string): Promise<void> {
  return refuse(subject, { message: subject.message('complete', fields) }, what)
}

async function refuse(subject: Subject, payload: JsonObject, what: string): Promise<void> {
  // JSON drops what is undefined; the driver of gRPC must not see it.
  const sent = JSON.parse(JSON.stringify(payload)) as JsonObject
  const answer = await subject.call('SendMessage', sent)
  expectError(answer, what, 'INVALID_PARAMS', 'INVALID_REQUEST')
}
