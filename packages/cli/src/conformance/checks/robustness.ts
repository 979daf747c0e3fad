/** Messages that are wrong in one field: they are refused as invalid parameters before any work. */
import { pass, Undecided, type Check, type VersionName } from '../check.ts'
import { expect, expectError, unknownTaskId } from '../expect.ts'
import type { Subject } from '../subject.ts'
import { isObject } from '../wire/encode-request.ts'
import { rpcMethodName, type JsonObject } from '../wire/spelling.ts'
import { expectNoInternals } from './limits.ts'

const both = { versions: ['1.0', '0.3', '0.2'], bindings: ['JSONRPC', 'HTTP+JSON', 'GRPC'], sends: true } as const
const json = { ...both, bindings: ['JSONRPC', 'HTTP+JSON'] } as const
const sectionOf = (modern: string, legacy: string) => ({
  '1.0': `A2A 1.0 ${modern}`,
  '0.3': `A2A 0.3 ${legacy}`,
  '0.2': `A2A 0.2 ${legacy}`,
})
const validation = sectionOf('§3.3.2 (validate all input)', '§8.1')

/** A URL with a password, a stack frame, or the beginning of a JavaScript error. */
const exceptionText = /\w+:\/\/[^\s"]*:[^\s"]*@[^\s"]*|\bat \S+ \(?(?:file:|\/)|(?:TypeError|ReferenceError|Error): /

export const robustnessChecks: readonly Check[] = [
  {
    id: 'robustness.parts-type',
    rules: ['B-38'],
    level: 'must',
    section: validation,
    title: 'Parts that are no list of objects are refused as invalid',
    ...json,
    async run(subject) {
      for (const parts of ['zzz', [null], ['text'], [42], null]) {
        await refuseMessage(subject, { parts }, `A message with the parts ${JSON.stringify(parts)}`)
      }
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
    id: 'robustness.internals',
    rules: ['B-38', 'B-50'],
    level: 'info',
    section: 'A2A 1.0 §3.3.2 (errors are for the client; the text is silent about internals)',
    title:
      'The refusal of an invalid message shows nothing of the server: no exception texts, no stack traces, no paths',
    ...json,
    async run(subject) {
      for (const parts of [[null], 'zzz', [{ raw: {} }]]) {
        const answer = await subject.call('SendMessage', { message: subject.message('complete', { parts }) })
        expectNoInternals(answer, `A message with the parts ${JSON.stringify(parts)}`)
      }
      return pass()
    },
  },
  {
    id: 'robustness.failed-task',
    rules: ['B-50'],
    level: 'info',
    section: 'A2A 1.0 §3.3.2 (the text is silent about internals)',
    title: 'A task that fails by an exception shows neither its text nor addresses with passwords',
    ...both,
    async run(subject) {
      if (!subject.hasScenario('fail')) throw new Undecided('name a message for "fail" in the profile')
      const failed = await subject.send('fail')
      const body = failed.exchange.response?.body ?? ''
      const [shown] = exceptionText.exec(body) ?? []
      expect(shown === undefined, `A task that fails shows "${shown?.slice(0, 60)}"`, failed)
      return pass()
    },
  },
  {
    id: 'robustness.id-zero',
    rules: ['F-1'],
    level: 'must',
    section: sectionOf('§9.1 (JSON-RPC 2.0 §5)', '§3.2.1 (JSON-RPC 2.0 §5)'),
    title: 'A JSON-RPC id of 0 comes back, also with an error',
    ...json,
    bindings: ['JSONRPC'],
    sends: false,
    async run(subject) {
      for (const method of [rpcMethodName(subject.version, 'GetTask'), 'ConformanceNoSuchMethod']) {
        const body = { jsonrpc: '2.0', id: 0, method, params: { id: unknownTaskId(subject) } }
        const answer = await subject.http({ body })
        const id = isObject(answer.json) ? answer.json['id'] : undefined
        expect(id === 0, `The id 0 of ${method} comes back as ${JSON.stringify(id)}`, { exchange: answer })
      }
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
