/** JSON-RPC 2.0 as such: envelopes, ids, the standard errors. Sends no message. */
import { CheckFailure, fail, pass, type Check } from '../check.ts'
import { unknownTaskId } from '../expect.ts'
import type { Subject } from '../subject.ts'
import { isObject } from '../wire/encode-request.ts'
import type { HttpExchange } from '../wire/http-wire.ts'
import { rpcMethodName } from '../wire/spelling.ts'
import { allVersions, jsonRpc } from './scope.ts'

const onJsonRpc = { versions: allVersions, bindings: jsonRpc, sends: false, level: 'must' } as const
const structures = { '0.3': 'A2A 0.3 §6.11, §8.1', '0.2': 'A2A 0.2 §6.11, §8.1' } as const

/** GetTask of an unknown task: every agent answers it with an error that has the id of the request. */
function ordinaryRequest(subject: Subject, fields: Readonly<Record<string, unknown>> = {}): object {
  return {
    jsonrpc: '2.0',
    id: 7,
    method: rpcMethodName(subject.version, 'GetTask'),
    params: { id: unknownTaskId(subject) },
    ...fields,
  }
}

function expectCode(exchange: HttpExchange, what: string, code: number): Readonly<Record<string, unknown>> {
  const { json } = exchange
  const error = isObject(json) && isObject(json['error']) ? json['error'] : undefined
  if (error?.['code'] === code && isObject(json)) return json
  const shown =
    error === undefined
      ? json === undefined
        ? `HTTP ${exchange.status} without JSON`
        : 'no error'
      : String(error['code'])
  throw new CheckFailure(`${what} is answered with ${shown} instead of ${code}`, exchange)
}

export const jsonRpcChecks: readonly Check[] = [
  {
    ...onJsonRpc,
    id: 'jsonrpc.envelope',
    rules: ['F-1'],
    section: { '1.0': 'A2A 1.0 §9.1, §9.3', ...structures },
    title: 'A response has jsonrpc "2.0", the id of its request and exactly one of result and error',
    async run(subject) {
      for (const id of [7, 'a-text-id']) {
        const exchange = await subject.http({ body: ordinaryRequest(subject, { id }) })
        const { json } = exchange
        if (!isObject(json)) return fail(`the body is no JSON object: HTTP ${exchange.status}`, exchange)
        if (json['jsonrpc'] !== '2.0') return fail(`jsonrpc is ${JSON.stringify(json['jsonrpc'])}`, exchange)
        if (json['id'] !== id)
          return fail(`id is ${JSON.stringify(json['id'])} instead of ${JSON.stringify(id)}`, exchange)
        const members = ['result', 'error'].filter((name) => name in json)
        if (members.length !== 1)
          return fail(
            `the response has ${members.length === 0 ? 'neither result nor error' : 'result and error'}`,
            exchange,
          )
      }
      return pass()
    },
  },
  {
    ...onJsonRpc,
    id: 'jsonrpc.content-type',
    rules: ['F-1'],
    section: { '1.0': 'A2A 1.0 §9.1', '0.3': 'A2A 0.3 §3.2.1, §7', '0.2': 'A2A 0.2 §3.2, §7' },
    title: 'Responses are application/json',
    async run(subject) {
      const exchange = await subject.http({ body: ordinaryRequest(subject) })
      const type = exchange.headers['content-type'] ?? ''
      return /^application\/json\b/i.test(type)
        ? pass()
        : fail(`Content-Type is ${type === '' ? 'missing' : type}`, exchange)
    },
  },
  {
    ...onJsonRpc,
    id: 'jsonrpc.parse-error',
    rules: ['B-35'],
    section: { '1.0': 'A2A 1.0 §9.5', '0.3': 'A2A 0.3 §6.11.2, §8.1', '0.2': 'A2A 0.2 §6.11.2, §8.1' },
    title: 'A body that is not JSON is refused with -32700 and a null id',
    async run(subject) {
      const exchange = await subject.http({ body: '{"jsonrpc": "2.0", "id": 7, "method": ' })
      const json = expectCode(exchange, 'half a JSON document', -32700)
      return json['id'] === null ? pass() : fail(`the id is ${JSON.stringify(json['id'])} instead of null`, exchange)
    },
  },
  {
    ...onJsonRpc,
    id: 'jsonrpc.invalid-request',
    rules: ['B-36'],
    section: { '1.0': 'A2A 1.0 §9.3, §9.5', ...structures },
    title: 'An envelope that is no JSON-RPC 2.0 request is refused with -32600',
    async run(subject) {
      const wrong: readonly (readonly [string, object])[] = [
        ['jsonrpc "1.0"', ordinaryRequest(subject, { jsonrpc: '1.0' })],
        ['a request without jsonrpc', ordinaryRequest(subject, { jsonrpc: undefined })],
        ['a request without a method', ordinaryRequest(subject, { method: undefined })],
        ['a method that is a number', ordinaryRequest(subject, { method: 5 })],
        ['an id that is an object', ordinaryRequest(subject, { id: { a: 1 } })],
      ]
      for (const [what, body] of wrong) expectCode(await subject.http({ body }), what, -32600)
      return pass()
    },
  },
  {
    ...onJsonRpc,
    id: 'jsonrpc.method-not-found',
    rules: ['B-37'],
    section: { '1.0': 'A2A 1.0 §9.5', '0.3': 'A2A 0.3 §8.1', '0.2': 'A2A 0.2 §8.1' },
    title: 'An unknown method is refused with -32601 and the id of the request',
    async run(subject) {
      const method = subject.version === '1.0' ? 'ConformanceNoSuchMethod' : 'conformance/noSuchMethod'
      const exchange = await subject.http({ body: ordinaryRequest(subject, { method }) })
      const json = expectCode(exchange, 'an unknown method', -32601)
      return json['id'] === 7 ? pass() : fail(`the id is ${JSON.stringify(json['id'])} instead of 7`, exchange)
    },
  },
  {
    ...onJsonRpc,
    id: 'jsonrpc.invalid-params',
    rules: ['B-38'],
    section: { '1.0': 'A2A 1.0 §3.3.2, §9.5', '0.3': 'A2A 0.3 §8.1', '0.2': 'A2A 0.2 §8.1' },
    title: 'GetTask without an id, or with one that is no text, is refused with -32602',
    async run(subject) {
      for (const [what, params] of [
        ['GetTask without an id', {}],
        ['GetTask with an id that is an object', { id: { a: 1 } }],
      ] as const) {
        expectCode(await subject.http({ body: ordinaryRequest(subject, { params }) }), what, -32602)
      }
      return pass()
    },
  },
  {
    ...onJsonRpc,
    id: 'jsonrpc.batch',
    rules: ['F-2'],
    level: 'info',
    section: {
      '1.0': 'A2A 1.0 §9 defines no batches',
      '0.3': 'A2A 0.3 §6.11 defines no batches',
      '0.2': 'A2A 0.2 §6.11 defines no batches',
    },
    title: 'A batch is refused with -32600',
    async run(subject) {
      const exchange = await subject.http({ body: [ordinaryRequest(subject)] })
      expectCode(exchange, 'a batch', -32600)
      return pass()
    },
  },
  {
    ...onJsonRpc,
    id: 'jsonrpc.repeated-id',
    rules: ['B-42'],
    level: 'info',
    section: { '1.0': 'JSON-RPC 2.0 §4', '0.3': 'JSON-RPC 2.0 §4', '0.2': 'JSON-RPC 2.0 §4' },
    title: 'A later request may use the same JSON-RPC id again',
    async run(subject) {
      const body = ordinaryRequest(subject)
      const [first, second] = [await subject.http({ body }), await subject.http({ body })]
      return first.text === second.text || expectSameCode(first, second)
        ? pass()
        : fail('the second request is answered differently', second)
    },
  },
]

function expectSameCode(first: HttpExchange, second: HttpExchange): boolean {
  const code = ({ json }: HttpExchange): unknown =>
    isObject(json) && isObject(json['error']) ? json['error']['code'] : undefined
  return code(first) !== undefined && code(first) === code(second)
}
