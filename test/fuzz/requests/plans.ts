/** Requests as they are drawn: a sound one, then damage to its fields, its envelope, its bytes, its head and its path. */
import fc from 'fast-check'
import { newMethodNames, oldMethodNames } from '../answers/operations.ts'
import type { ByteMutation, Mutation } from './mutate.ts'
import { mutate, mutateBytes } from './mutate.ts'
import type { Sample } from './samples.ts'
import { samples } from './samples.ts'

/** How the server is set up that gets the request. */
export type House = 'open' | 'strict' | 'locked'

/** Everything that goes out, with tokens still to be filled in. */
export interface Plan {
  readonly house: House
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | undefined
  readonly damage: readonly ByteMutation[]
}

/** Bytes of a body after its tokens were filled in. */
export function bytesOf(body: string, damage: readonly ByteMutation[]): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(body)
  return (damage.length === 0 ? bytes : mutateBytes(bytes, damage)) as Uint8Array<ArrayBuffer>
}

const nasty: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e300, '', ' ', [], {}, [[]], [null], [{}]) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(2 ** 31, 2 ** 53, -(2 ** 31), '12', '0x10', '-0', '1e3', '٣') },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>('\ud800', '\udfff x', '\u0000', '\u0007\u001b[2J', '\u2028', '\r\n', '💥', '../..', '%00'),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>('TASK_STATE_PAUSED', 'task_state_working', 'ROLE_AGENT', 'agent', 'HACKER', 'user', 99),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>('not base64!', 'AAE', 'AA==AA', 'not a url', 'javascript:alert(1)', 'file:///etc/hosts', 'http://'),
  },
  { weight: 3, arbitrary: fc.constantFrom<unknown>('~working~', '~asking~', '~done~', '~context~', '~new~', '~page~') },
  { weight: 1, arbitrary: fc.constantFrom<unknown>('~deep array~', '~deep object~', '~long~') },
  { weight: 2, arbitrary: fc.constantFrom<unknown>({ '~proto~': { polluted: true } }, { constructor: { prototype: { polluted: true } } }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>({ toString: 1 }, { length: -1 }, { then: 'x' }, { toJSON: null }) },
  { weight: 2, arbitrary: fc.string({ maxLength: 40, unit: 'binary' }) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)

const keys = fc.constantFrom(
  '~proto~', 'constructor', 'prototype', 'toString', 'unknown field', '', 'kind', 'type', 'text', 'raw', 'url', 'data', 'file',
  'id', 'taskId', 'contextId', 'messageId', 'metadata', 'tenant', 'final', 'blocking', 'returnImmediately', 'historyLength',
  'message', 'parts', 'content', 'role', 'extensions', 'configuration', 'referenceTaskIds', 'pageSize', 'status', 'name',
)
const at = fc.nat({ max: 200 })

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('replace' as const), at, value: nasty }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), at }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), at, key: keys, value: nasty }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('snake' as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('as string' as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wrap' as const), at, key: fc.option(keys, { nil: undefined }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), at, times: fc.constantFrom(2, 1_000, 1_001) }) },
)

const byteMutation: fc.Arbitrary<ByteMutation> = fc.record({
  kind: fc.constantFrom('set', 'insert', 'drop', 'cut', 'double'),
  at: fc.nat({ max: 2_000 }),
  byte: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 0x22, 0x5b, 0x5d, 0x7b, 0x7d, 0x2c, 0x5c, 0xed, 0xff)),
})

const requestId: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<unknown>(1, 0, 'r-1', '', null, -5, 1.5) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(2 ** 60, 1e21, Number.MIN_VALUE, '\ud800', '"', '</script>', '\u2028', '~long~') },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(true, {}, [], [1], undefined, { toString: 1 }) },
)

/** Whole bodies that are no request at all. */
const strangeBody = fc.constantFrom(
  '', ' ', 'null', '5', '"x"', 'true', '[]', '[{}]', '{', '}', '{}', '{}{}', "{'a':1}", '[1,]', 'NaN', '\ufeff{}', '\u0000',
  '<xml/>', 'a=b&c=d', '--boundary', '"~deep array~"', '"~deep object~"', '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","method":"GetTask"}',
  '{"id":1,"id":2,"jsonrpc":"2.0","method":"x"}', '{"jsonrpc":"2.0","id":1e999,"method":"GetTask"}',
  '[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"~done~"}}]', '{"~proto~":{"polluted":true}}',
  '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":"~deep object~"}',
  '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":"~too long~"}}',
)

const strangeVersion = fc.constantFrom(
  '0.3.0', '1.0.1', '1.0.99999999', '0.2.6', ' 1.0 ', '1', 'v1.0', '1.0, 0.3', '0.1', '0.5', '2.0', '1.1', '-1.0', '1.0-rc', '1,0',
  'abc', '\xff', '1.0\t', '0x1.0', '99999.99999',
)
const strangeType = fc.constantFrom(
  'text/plain', '', 'application/json; charset=latin1', 'APPLICATION/JSON', 'application/a2a+json;x=y', 'application/jsonx',
  'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', ';', 'application/json, text/plain', '\xff',
)
const strangeCursor = fc.constantFrom('0', '1', '2', '5', '999', '-1', '1.5', 'abc', '9007199254740993', '1e3', ' 3', '\xff', '0x1', '~long~')

const strangeHeader: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  strangeCursor.map((value) => ['last-event-id', value] as const),
  fc.constantFrom('urn:x', ',,,', 'https://parley.dev/extensions/cursor/v1', '\xff', '~long~').chain((value) =>
    fc.constantFrom('a2a-extensions', 'x-a2a-extensions').map((name) => [name, value] as const),
  ),
  fc.constantFrom('*', '"x"', 'W/"x"', ',', '\xff').map((value) => ['if-none-match', value] as const),
  fc.constantFrom('Bearer', 'Bearer hunter', 'Basic eDp5', 'Bearer \xff', '~long~').map((value) => ['authorization', value] as const),
  fc.constantFrom('https://evil.example', 'null').map((value) => ['origin', value] as const),
  fc.constantFrom('text/event-stream', 'text/html', '\xff').map((value) => ['accept', value] as const),
  fc.constantFrom('gzip', 'identity').map((value) => ['content-encoding', value] as const),
  fc.constantFrom('evil.example', 'a b', '~long~').map((value) => ['x-forwarded-host', value] as const),
)

const strangeQuery = fc.constantFrom(
  'pageSize=0', 'pageSize=-1', 'pageSize=101', 'pageSize=1e1', 'pageSize=', 'pageSize=1&pageSize=2', 'pageToken=x', 'pageToken=a.b.c',
  'pageToken=~page~x', 'pageToken=%00', 'pageToken=~long~', 'historyLength=-1', 'historyLength=x', 'historyLength=99999999999',
  'status=PAUSED', 'status=2', 'status=', 'statusTimestampAfter=yesterday', 'statusTimestampAfter=2026-13-01T00:00:00Z',
  'includeArtifacts=yes', 'includeArtifacts=TRUE', 'tenant=acme', 'contextId=%', 'contextId=%F0%28', '%', '%ZZ=1', '=', '&&&', 'a',
  '~proto~=1', 'constructor=1', 'a2a-version=1.0', 'A2A-Version=0.3', 'A2A-Version=7', 'lastEventId=1', 'lastEventId=x', 'page_size=2',
)
const strangePath = fc.constantFrom(
  '/', '//', '/a2a', '/a2a/', '/api/a2a', '/api/a2a/', '/v1', '/v1/', '/v1/tasks', '/tasks/', '/tasks//', '/tasks/:cancel', '/tasks/%',
  '/tasks/%ZZ', '/tasks/%00', '/tasks/%2F..%2F', '/tasks/%c0%ae', '/tasks/%E0%A4%A', '/tasks/..%2f..%2f', '/tasks/~proto~',
  '/tasks/constructor', '/tasks/~long~', '/tasks/~done~:explode', '/tasks/~done~/', '/tasks/~done~:cancel:cancel', '/tasks/ ',
  '/tasks/\u00e9', '/tasks/~done~%3Acancel', '/message:send/', '/message%3Asend', '/message:SEND', '/acme/message:send', '/acme/tasks',
  '/v1/card', '/v1/message:send', '/message:send', '/extendedAgentCard', '/.well-known/agent-card.json', '/.well-known/agent.json',
  '/.well-known/agent', '/a2a/.well-known/agent-card.json', '/agent-card', '/agent/authenticatedExtendedCard', '/.well-known/',
  '/.well-known/jwks.json', '/.env', '/~proto~', '/constructor', '/healthz', '/readyz', '/admin', '/a2a/nobody', '/a2a/nobody/tasks',
)
const verbs = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'get', 'PROPFIND', 'M-SEARCH')
const houses = fc.constantFrom<House>('open', 'open', 'open', 'open', 'strict', 'locked')

const often = <T>(arbitrary: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { freq: weight, nil: undefined })

/** A value in about one of `n` draws. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>, n: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: n - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })

export const plans: fc.Arbitrary<Plan> = fc
  .record({
    house: houses,
    sample: fc.constantFrom(...samples),
    mutations: fc.oneof(
      { weight: 2, arbitrary: fc.constant<Mutation[]>([]) },
      { weight: 5, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
    ),
    id: requestId,
    envelope: seldom(fc.array(mutation, { minLength: 1, maxLength: 2 }), 8),
    method: seldom(fc.constantFrom(...newMethodNames, ...oldMethodNames, 'tasks/send', 'rpc.discover', 'constructor', '💥'), 12),
    body: seldom(strangeBody, 15),
    damage: seldom(fc.array(byteMutation, { minLength: 1, maxLength: 3 }), 8),
    naming: fc.nat({ max: 9 }),
    version: seldom(strangeVersion, 12),
    type: seldom(strangeType, 15),
    headers: often(fc.array(strangeHeader, { minLength: 1, maxLength: 2 }), 1),
    query: seldom(strangeQuery, 6),
    path: seldom(strangePath, 10),
    verb: seldom(verbs, 15),
    known: fc.nat({ max: 9 }),
  })
  .map(toPlan)

interface Draws {
  readonly house: House
  readonly sample: Sample
  readonly mutations: readonly Mutation[]
  readonly id: unknown
  readonly envelope: readonly Mutation[] | undefined
  readonly method: string | undefined
  readonly body: string | undefined
  readonly damage: readonly ByteMutation[] | undefined
  readonly naming: number
  readonly version: string | undefined
  readonly type: string | undefined
  readonly headers: readonly (readonly [string, string])[] | undefined
  readonly query: string | undefined
  readonly path: string | undefined
  readonly verb: string | undefined
  readonly known: number
}

function toPlan(draws: Draws): Plan {
  const { sample, query } = draws
  const payload = sample.payload === undefined ? undefined : mutate(sample.payload, draws.mutations)
  const path = draws.path ?? sample.path
  const rest = query === undefined ? '' : `${path.includes('?') ? '&' : '?'}${query}`
  return {
    house: draws.house,
    method: draws.verb ?? (sample.binding === 'jsonrpc' ? 'POST' : sample.method),
    path: path + rest,
    headers: headersOf(draws),
    body: draws.body ?? (sample.binding === 'jsonrpc' ? envelopeOf(draws, payload) : JSON.stringify(payload)),
    damage: draws.damage ?? [],
  }
}

function envelopeOf({ sample, id, envelope, method }: Draws, params: unknown): string {
  const request = { jsonrpc: '2.0', id, method: method ?? sample.method, params }
  return JSON.stringify(envelope === undefined ? request : mutate(request, envelope))
}

function headersOf({ sample, version, type, headers = [], naming, known, house }: Draws): Plan['headers'] {
  // Nine in ten name the version they speak; older ones may leave it out.
  const named = version ?? (naming > 0 ? sample.version : undefined)
  return [
    ['content-type', type ?? (sample.version === '1.0' ? 'application/a2a+json' : 'application/json')],
    ...(named === undefined ? [] : ([['a2a-version', named]] as const)),
    ...(house === 'locked' && known > 2 ? ([['authorization', 'Bearer ada']] as const) : []),
    ...headers,
  ]
}
