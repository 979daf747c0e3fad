/** Decoders by themselves: versions, protobuf, server-sent events. A million inputs go through them in minutes. */
import assert from 'node:assert/strict'
import { A2AError, type AgentCard } from '@parley/a2a'
import type { Operation } from '@parley/a2a/internal'
import { decodeProtobuf, encodeProtobuf } from '../../packages/a2a/src/bindings/grpc/codec.ts'
import { CodecError } from '../../packages/a2a/src/bindings/grpc/message-codec.ts'
import { messageDescriptor } from '../../packages/a2a/src/bindings/grpc/schema.ts'
import { rpcMethodsOf } from '../../packages/a2a/src/bindings/grpc/service.ts'
import { createSseParser } from '../../packages/a2a/src/bindings/sse-reader.ts'
import type { SseEvent } from '../../packages/a2a/src/bindings/sse-reader.ts'
import { versions } from '../../packages/a2a/src/versions/index.ts'
import { goldenPayloads } from './golden-payloads.ts'
import { bytesOfJson, bytesOfText } from './guided/target.ts'
import type { FuzzTarget } from './guided/target.ts'
import { cardWords, hostileWords, protocolWords, words } from './vocabulary.ts'

/** Runs it; anything but an A2AError is a defect. `undefined` if it was refused. */
export function refusable<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (reason) {
    if (reason instanceof A2AError && reason.code !== 'INTERNAL') return undefined
    throw reason
  }
}

/** `{ version, dialect, request | result | event | card | error, payload }`, as in the golden files. */
const dialects: FuzzTarget = {
  name: 'dialects',
  format: 'json',
  weight: 6,
  isSync: true,
  dictionary: [...words, ...cardWords, 'json', 'proto', 'payload', 'request', 'result', 'event', 'card'],
  seeds: () => goldenPayloads().map(bytesOfJson),
  open: async () => ({
    run(input) {
      const order = asJson(input)
      if (typeof order !== 'object' || order === null) return
      const { version, dialect, request, result, event, card, payload } = order as Readonly<Record<string, unknown>>
      const { json, proto, spelling } = versions.find(({ id }) => id === version) ?? versions[0]!
      const codec = dialect === 'proto' ? proto : json
      const named = request ?? result
      const operation = (
        typeof named === 'string' && Object.hasOwn(spelling.methods, named) ? named : 'SendMessage'
      ) as Operation
      if (event === true) {
        const read = refusable(() => codec.decodeEvent(payload))
        if (read !== undefined) JSON.parse(codec.seal(JSON.stringify(codec.writeEvent(read)), read, true))
      } else if (card === true) readCard(codec, payload)
      else if (result !== undefined) {
        const read = refusable(() => codec.decodeResult(operation, payload))
        if (read !== undefined && !/Streaming|Subscribe/.test(operation))
          refusable(() => JSON.parse(JSON.stringify(codec.writeResult(operation, read))))
      } else if (request !== undefined) {
        const read = refusable(() => codec.decodeRequest(operation, payload))
        if (read !== undefined) refusable(() => codec.encodeRequest(operation, read))
      } else assert.ok(codec.decodeError(payload, 400) instanceof A2AError)
    },
  }),
}

function readCard(codec: (typeof versions)[number]['json'], payload: unknown): void {
  const read: AgentCard | undefined = refusable(() => codec.decodeCard(payload))
  if (read !== undefined) refusable(() => JSON.stringify(codec.encodeCard(read)))
}

function asJson(input: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(input)) as unknown
  } catch {
    return undefined
  }
}

const messageNames = [
  ...new Set(
    versions.flatMap((version) =>
      [...rpcMethodsOf(version).values()].flatMap(({ request, response }) => [request, response]),
    ),
  ),
].sort()

/** The first byte selects the message. A decoded message can be encoded, and decodes to the same value. */
const protobuf: FuzzTarget = {
  name: 'protobuf',
  format: 'protobuf',
  weight: 6,
  isSync: true,
  // Each input is read twice and written twice.
  mostBlockMs: () => 4 * 50,
  dictionary: [...protocolWords, '\u0000', 'tasks/x', 'tasks/x/pushNotificationConfigs/y', '\xff'],
  seeds: protobufSeeds,
  open: async () => ({
    run(input) {
      const name = messageNames[(input[1] ?? 0) % messageNames.length] as string
      try {
        const read = decodeProtobuf(name, input.subarray(2))
        // A zero that was written out is implied the second time, so texts are compared and not what was read.
        const written = encodeProtobuf(name, read)
        assert.deepEqual(encodeProtobuf(name, decodeProtobuf(name, written)), written)
      } catch (reason) {
        if (!(reason instanceof CodecError)) throw reason
      }
    },
  }),
}

/** As a field of one byte, so that the mutators read the rest as fields. */
const choiceTag = (index: number): Uint8Array => Uint8Array.of(0x78, index)

function protobufSeeds(): readonly Uint8Array[] {
  const payloads = goldenPayloads().filter(({ dialect, version }) => dialect === 'proto' || version === '1.0')
  const seeds: Uint8Array[] = messageNames.map((_, index) => choiceTag(index))
  for (const { payload, event, result, request, card } of payloads) {
    const wanted =
      event === true ? /StreamResponse/ : card === true ? /AgentCard$/ : new RegExp(request ?? result ?? '-')
    for (const [index, name] of messageNames.entries()) {
      if (!wanted.test(name)) continue
      try {
        seeds.push(Buffer.concat([choiceTag(index), encodeProtobuf(name, payload)]))
      } catch {
        // A payload of another version of the same message.
      }
    }
  }
  assert.ok(seeds.length > messageNames.length, 'no golden payload fits a message')
  assert.ok(messageDescriptor(messageNames[0] as string))
  return seeds
}

const sseSeed = [
  'id: 1\ndata: {"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t"}}}\n\n',
  ': comment\r\nevent: error\r\ndata: a\r\ndata: b\r\n\r\n',
  '\ufeffdata\n\ndata:x\rid:2\r\r',
  'retry: 5\nid\ndata: no end',
]

/** A stream gives the same events in any chunks. */
const sse: FuzzTarget = {
  name: 'sse',
  format: 'text',
  weight: 3,
  isSync: true,
  dictionary: [
    'data:',
    'data: ',
    'id: ',
    'event: ',
    'retry: ',
    ':',
    '\n',
    '\r',
    '\r\n',
    '\n\n',
    '\ufeff',
    '\u0000',
    ...hostileWords,
  ],
  seeds: () => sseSeed.map(bytesOfText),
  open: async () => ({
    run(input) {
      const text = new TextDecoder().decode(input)
      const whole = eventsOf([text])
      const sizes = text.length < 2_000 ? [1, 7] : text.length < 20_000 ? [64] : [4_096]
      // Places that depend on the input alone, so that a finding is found again.
      for (const size of sizes) assert.deepEqual(eventsOf(chunks(text, size + ((input[0] ?? 0) % 3))), whole)
    },
  }),
}

function chunks(text: string, size: number): readonly string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  )
}

const mostEventBytes = 100_000

function eventsOf(pieces: readonly string[]): readonly SseEvent[] | 'too large' {
  const parser = createSseParser(mostEventBytes)
  const events: SseEvent[] = []
  try {
    for (const piece of pieces) events.push(...parser.feed(piece))
    events.push(...parser.end())
    return events
  } catch (reason) {
    if (reason instanceof A2AError && reason.code === 'PAYLOAD_TOO_LARGE') return 'too large'
    throw reason
  }
}

export const targets: readonly FuzzTarget[] = [dialects, protobuf, sse]
