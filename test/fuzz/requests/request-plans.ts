/** Generated requests: a valid one, then damage to its fields, its envelope, its bytes, its head and its path. */
import fc from 'fast-check'
import { newMethodNames, oldMethodNames } from '../answers/request-operation.ts'
import type { ByteMutation, Mutation } from './mutate.ts'
import { mutate, mutateBytes } from './mutate.ts'
import {
  malformedKey,
  malformedValue,
  requestId,
  malformedBody,
  malformedHeader,
  malformedPath,
  malformedQuery,
  malformedContentType,
  malformedVersion,
  verbs,
} from './malformed-values.ts'
import type { Sample } from './samples.ts'
import { samples } from './samples.ts'

/** The setup of the server that gets the request: `kept` has its tasks on disk. */
export type ServerVariant = 'open' | 'kept' | 'strict' | 'locked'

/** Everything that goes out, with tokens still to be filled in. */
export interface RequestPlan {
  readonly variant: ServerVariant
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

const at = fc.nat({ max: 200 })

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('replace' as const), at, value: malformedValue }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), at }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('add' as const), at, key: malformedKey, value: malformedValue }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('snake' as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('as string' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wrap' as const), at, key: fc.option(malformedKey, { nil: undefined }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('repeat' as const), at, times: fc.constantFrom(2, 1_000, 1_001) }),
  },
)

const byteMutation: fc.Arbitrary<ByteMutation> = fc.record({
  kind: fc.constantFrom('set', 'insert', 'drop', 'cut', 'double'),
  at: fc.nat({ max: 2_000 }),
  byte: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 0x22, 0x5b, 0x5d, 0x7b, 0x7d, 0x2c, 0x5c, 0xed, 0xff)),
})

const serverVariants = fc.constantFrom<ServerVariant>('open', 'open', 'open', 'kept', 'strict', 'locked')

/** A value in about one of `n` draws. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>, n: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: n - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })

export const plans: fc.Arbitrary<RequestPlan> = fc
  .record({
    variant: serverVariants,
    sample: fc.constantFrom(...samples),
    mutations: fc.oneof(
      { weight: 2, arbitrary: fc.constant<Mutation[]>([]) },
      { weight: 5, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
    ),
    id: requestId,
    envelope: rarely(fc.array(mutation, { minLength: 1, maxLength: 2 }), 8),
    method: rarely(
      fc.constantFrom(...newMethodNames, ...oldMethodNames, 'tasks/send', 'rpc.discover', 'constructor', '💥'),
      12,
    ),
    body: rarely(malformedBody, 15),
    damage: rarely(fc.array(byteMutation, { minLength: 1, maxLength: 3 }), 8),
    naming: fc.nat({ max: 9 }),
    version: rarely(malformedVersion, 12),
    type: rarely(malformedContentType, 15),
    headers: rarely(fc.array(malformedHeader, { minLength: 1, maxLength: 2 }), 3),
    query: rarely(malformedQuery, 6),
    path: rarely(malformedPath, 10),
    verb: rarely(verbs, 15),
    known: fc.nat({ max: 9 }),
  })
  .map(toPlan)

interface Draws {
  readonly variant: ServerVariant
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

function toPlan(draws: Draws): RequestPlan {
  const { sample, query } = draws
  const payload = sample.payload === undefined ? undefined : mutate(sample.payload, draws.mutations)
  const path = draws.path ?? sample.path
  const rest = query === undefined ? '' : `${path.includes('?') ? '&' : '?'}${query}`
  return {
    variant: draws.variant,
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

function headersOf({ sample, version, type, headers = [], naming, known, variant }: Draws): RequestPlan['headers'] {
  // Nine in ten name their version; older ones may omit it.
  const named = version ?? (naming > 0 ? sample.version : undefined)
  return [
    ['content-type', type ?? (sample.version === '1.0' ? 'application/a2a+json' : 'application/json')],
    ...(named === undefined ? [] : ([['a2a-version', named]] as const)),
    ...(variant === 'locked' && known > 2 ? ([['authorization', 'Bearer ada']] as const) : []),
    ...headers,
  ]
}
