import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromBinary, fromJson, toBinary, toJson, type JsonValue } from '@bufbuild/protobuf'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { decodeProtobuf, encodeFrames, encodeProtobuf } from './codec.ts'
import { CodecError } from './message-codec.ts'
import { messageDescriptor, descriptorRegistry } from './schema.ts'

/** The library's own codec, as the reference. */
const byLibrary = {
  encode: (type: string, json: unknown) =>
    toBinary(
      messageDescriptor(type),
      fromJson(messageDescriptor(type), json as JsonValue, { registry: descriptorRegistry, ignoreUnknownFields: true }),
    ),
  decode: (type: string, bytes: Uint8Array) =>
    toJson(messageDescriptor(type), fromBinary(messageDescriptor(type), bytes), { registry: descriptorRegistry }),
}

const samples: readonly (readonly [type: string, payload: unknown])[] = [
  [
    'lf.a2a.v1.StreamResponse',
    {
      task: {
        id: 't',
        contextId: 'c',
        status: {
          state: 'TASK_STATE_INPUT_REQUIRED',
          message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: '' }, { text: 'Grüße 👋' }] },
          timestamp: '2026-01-02T03:04:05.678Z',
        },
        artifacts: [
          {
            artifactId: 'a',
            parts: [
              { raw: 'AQL/', filename: 'a.bin', mediaType: 'application/x-a' },
              { url: 'https://example.com/a.pdf' },
              { data: { rows: [1, 2.5, -3e300], ok: true, none: null, deep: { er: [[], {}] } } },
              { data: null },
              { data: ['a', 0, false, ''] },
            ],
            metadata: { n: 1, __proto: 'x' },
            extensions: ['urn:a', 'urn:b'],
          },
        ],
        metadata: {},
      },
    },
  ],
  ['lf.a2a.v1.ListTasksRequest', { pageSize: 0, includeArtifacts: false, status: 'TASK_STATE_WORKING' }],
  ['lf.a2a.v1.ListTasksResponse', { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 }],
  [
    'lf.a2a.v1.AgentCard',
    {
      name: 'A',
      capabilities: { streaming: false, extensions: [{ uri: 'urn:x', required: true }] },
      securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
      securityRequirements: [{ schemes: { key: { list: ['a', 'b'] }, other: {} } }],
    },
  ],
  [
    'a2a.v1.SendMessageRequest',
    { message: { messageId: 'm', role: 'ROLE_USER', content: [{ data: { data: { a: 1 } } }] } },
  ],
  ['a2a.v1.StreamResponse', { statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_CANCELLED' }, final: true } }],
  [
    'google.rpc.Status',
    {
      code: 5,
      message: 'no',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'R', domain: 'd', metadata: { a: 'b' } },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1.500s' },
      ],
    },
  ],
  ['lf.a2a.v1.Task', { status: { timestamp: '1969-12-31T23:59:59.999Z' } }],
  ['lf.a2a.v1.Task', { status: { timestamp: '1970-01-01T00:00:00Z' } }],
  ['google.protobuf.Empty', {}],
]

describe('protobuf bytes and ProtoJSON', () => {
  it('are converted into each other like the library of the messages does [F-10 J-1 J-2 J-4]', () => {
    for (const [type, payload] of samples) {
      const bytes = byLibrary.encode(type, payload)
      assert.deepEqual(byLibrary.decode(type, encodeProtobuf(type, payload)), byLibrary.decode(type, bytes), type)
      const read = JSON.stringify(decodeProtobuf(type, bytes)).replaceAll('.500s', '.5s')
      const expected = JSON.stringify(byLibrary.decode(type, bytes)).replaceAll('.500s', '.5s')
      assert.equal(sorted(read), sorted(expected).replaceAll(/(:\d\d)Z/g, '$1.000Z'), type)
    }
  })

  it('keep every JSON value of a data part or metadata', () => {
    const json = fc.jsonValue({ stringUnit: 'binary' })
    fc.assert(
      fc.property(json, (data) => {
        // Protobuf has no minus zero in JSON either.
        const plain: unknown = JSON.parse(JSON.stringify(data))
        const back = decodeProtobuf('lf.a2a.v1.Part', encodeProtobuf('lf.a2a.v1.Part', { data: plain })) as {
          data: unknown
        }
        assert.deepEqual(back.data, plain)
      }),
      { numRuns: 300 },
    )
  })

  it('keep a key named __proto__ as a key', () => {
    const metadata: unknown = JSON.parse('{"__proto__": {"admin": true}}')
    const back = decodeProtobuf('lf.a2a.v1.Task', encodeProtobuf('lf.a2a.v1.Task', { metadata })) as {
      metadata: { admin?: unknown }
    }
    assert.equal(back.metadata.admin, undefined)
    assert.equal(JSON.stringify(back.metadata), '{"__proto__":{"admin":true}}')
  })

  it('skip unknown fields in both directions [J-10]', () => {
    const more = { id: 't', inventedByALaterVersion: [1, { a: 2 }] }
    assert.deepEqual(decodeProtobuf('lf.a2a.v1.GetTaskRequest', encodeProtobuf('lf.a2a.v1.GetTaskRequest', more)), {
      id: 't',
    })
    const writer = new BinaryWriter().tag(2, WireType.LengthDelimited).string('t')
    writer
      .tag(99, WireType.LengthDelimited)
      .string('x')
      .tag(98, WireType.Bit64)
      .double(1)
      .tag(97, WireType.Varint)
      .uint32(7)
    // A field number that now has another type is skipped as well.
    writer.tag(2, WireType.Varint).uint32(1)
    assert.deepEqual(decodeProtobuf('lf.a2a.v1.GetTaskRequest', writer.finish()), { id: 't' })
  })

  it('use the last of a oneof, and merge a message that comes in two pieces', () => {
    const text = encodeProtobuf('lf.a2a.v1.Part', { text: 'a', filename: 'f' })
    const url = encodeProtobuf('lf.a2a.v1.Part', { url: 'https://example.com' })
    assert.deepEqual(decodeProtobuf('lf.a2a.v1.Part', Buffer.concat([text, url])), {
      filename: 'f',
      url: 'https://example.com',
    })
    const one = encodeProtobuf('lf.a2a.v1.Task', { status: { state: 'TASK_STATE_WORKING' } })
    const two = encodeProtobuf('lf.a2a.v1.Task', { status: { timestamp: '2026-01-01T00:00:00.000Z' } })
    assert.deepEqual(decodeProtobuf('lf.a2a.v1.Task', Buffer.concat([one, two])), {
      status: { state: 'TASK_STATE_WORKING', timestamp: '2026-01-01T00:00:00.000Z' },
    })
  })

  it('keep an unknown enumeration number', () => {
    const bytes = new BinaryWriter().tag(1, WireType.Varint).int32(77).finish()
    assert.deepEqual(decodeProtobuf('lf.a2a.v1.TaskStatus', bytes), { state: 77 })
  })

  it('are refused by field if a payload does not fit', () => {
    const cases: [unknown, string][] = [
      [{ status: { message: { parts: [{ text: 5 }] } } }, 'status.message.parts.text must be a string'],
      [{ artifacts: {} }, 'artifacts must be an array'],
      [{ status: { state: 'DONE' } }, 'status.state must be a name of TaskState'],
      [{ status: { timestamp: 'yesterday' } }, 'status.timestamp must be an ISO 8601 timestamp'],
      [{ metadata: [] }, 'metadata must be an object'],
      [{ metadata: { a: [Infinity] } }, 'metadata must be a finite number'],
    ]
    for (const [payload, message] of cases) {
      assert.throws(() => encodeProtobuf('lf.a2a.v1.Task', payload), { name: 'CodecError', message })
    }
    assert.throws(
      () => encodeProtobuf('lf.a2a.v1.GetTaskRequest', { historyLength: 2 ** 31 }),
      /historyLength does not fit/,
    )
    assert.throws(
      () => encodeProtobuf('lf.a2a.v1.GetTaskRequest', { historyLength: 1.5 }),
      /historyLength must be an integer/,
    )
  })

  it('are refused if bytes are truncated, nested without end or not a message', () => {
    const whole = encodeProtobuf('lf.a2a.v1.Task', samples[0]![1] && (samples[0]![1] as { task: unknown }).task)
    for (let length = 1; length < whole.length; length++) {
      try {
        decodeProtobuf('lf.a2a.v1.Task', whole.subarray(0, length))
      } catch (reason) {
        assert.ok(reason instanceof CodecError, String(reason))
      }
    }
    assert.throws(() => decodeProtobuf('lf.a2a.v1.Task', whole.subarray(0, whole.length - 1)), CodecError)
    let deep: unknown = 1
    for (let level = 0; level < 250; level++) deep = [deep]
    assert.throws(
      () => decodeProtobuf('lf.a2a.v1.Part', encodeProtobuf('lf.a2a.v1.Part', { data: deep })),
      /nested too deeply/,
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeProtobuf('lf.a2a.v1.SendMessageRequest', bytes)
        } catch (reason) {
          assert.ok(reason instanceof CodecError, String(reason))
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

/** Ignores the order of keys. */
function sorted(text: string): string {
  return JSON.stringify(JSON.parse(text), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}

describe('frames of a stream', () => {
  const type = 'lf.a2a.v1.StreamResponse'
  const payload = (text: unknown): unknown => ({
    artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [{ text }] } },
  })
  /** The messages after their lengths, as a client splits them. */
  const messagesOf = (bytes: Uint8Array): unknown[] => {
    const messages: unknown[] = []
    const view = Buffer.from(bytes)
    for (let at = 0; at < view.length;) {
      assert.equal(view[at], 0, 'not compressed')
      const end = at + 5 + view.readUInt32BE(at + 1)
      messages.push(decodeProtobuf(type, view.subarray(at + 5, end)))
      at = end
    }
    return messages
  }

  it('hold each message after its length, long or short', () => {
    const payloads = ['a', 'b'.repeat(200), 'c'.repeat(20_000), ''].map(payload)
    const { bytes, count } = encodeFrames(type, payloads.length, (index) => payloads[index], 1_000_000)
    assert.equal(count, payloads.length)
    assert.deepEqual(messagesOf(bytes), payloads)
  })

  it('end with the message that reaches the size of one write', () => {
    const { bytes, count } = encodeFrames(type, 10, () => payload('x'.repeat(100)), 300)
    assert.deepEqual([count, messagesOf(bytes).length], [3, 3])
  })

  it('end before a message that cannot be encoded, whose error is thrown when it is the first', () => {
    const payloads = [payload('a'), payload('b'), payload(5), payload('d')]
    const { bytes, count } = encodeFrames(type, payloads.length, (index) => payloads[index], 1_000_000)
    assert.equal(count, 2)
    assert.deepEqual(messagesOf(bytes), payloads.slice(0, 2))
    assert.throws(() => encodeFrames(type, 2, (index) => payloads[index + 2], 1_000_000), CodecError)
    assert.deepEqual(messagesOf(encodeFrames(type, 1, () => payload('e'), 1_000_000).bytes), [payload('e')])
  })
})
