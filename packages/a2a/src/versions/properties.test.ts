/** Properties that hold for every payload, not only for hand-picked ones. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { A2AError } from '../model/error.ts'
import type { Operation, SendMessageRequest } from '../model/operation.ts'
import { taskStates } from '../model/state.ts'
import type {
  Artifact,
  Message,
  Part,
  StreamEvent,
  Struct,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
} from '../model/task.ts'
import { v0_3 } from './v0_3/index.ts'
import { v1_0 } from './v1_0/index.ts'
import type { Dialect } from './version.ts'

// The dialects of 0.2 are made of the same parts as those of 0.3.
const dialects: readonly Dialect[] = [v1_0.json, v0_3.json, v0_3.proto]
const operations = Object.keys(v1_0.spelling.methods) as Operation[]
/** `PARLEY_FULL=1` runs all of them, the quick mode a third. */
const runs = (count: number): { readonly numRuns: number } => ({
  numRuns: process.env['PARLEY_FULL'] === '1' ? count : Math.ceil(count / 3),
})

// -- canonical objects ------------------------------------------------------------------------------------------

const word = fc.string({ minLength: 1, maxLength: 12 })
const struct = fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 3 }) as fc.Arbitrary<Struct>
const base64 = fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64'))
const time = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }).map((d) => d.toISOString())

/** A record with some of its optional fields. */
function some<T>(
  needed: { [K in keyof T]?: fc.Arbitrary<T[K]> },
  optional: { [K in keyof T]?: fc.Arbitrary<Exclude<T[K], undefined>> },
): fc.Arbitrary<T> {
  const all = { ...needed, ...optional } as Record<string, fc.Arbitrary<unknown>>
  return fc.record(all, { requiredKeys: Object.keys(needed) }) as unknown as fc.Arbitrary<T>
}

const beside = { metadata: struct, filename: word, mediaType: fc.constantFrom('text/x-a', 'image/png') }
const part: fc.Arbitrary<Part> = fc.oneof(
  some<Part & { text: string }>({ text: fc.string() }, beside),
  some<Part & { raw: string }>({ raw: base64 }, beside),
  some<Part & { url: string }>({ url: fc.webUrl() }, beside),
  some<Part & { data: Struct }>({ data: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Struct> }, beside),
)
const parts = fc.array(part, { minLength: 1, maxLength: 3 })
const message = some<Message>(
  { messageId: word, role: fc.constantFrom('ROLE_USER', 'ROLE_AGENT'), parts },
  { contextId: word, taskId: word, metadata: struct, extensions: fc.array(word), referenceTaskIds: fc.array(word) },
)
const artifact = some<Artifact>(
  { artifactId: word, parts },
  { name: word, description: word, metadata: struct, extensions: fc.array(word) },
)
const status = some<TaskStatus>({ state: fc.constantFrom(...taskStates) }, { message, timestamp: time })
const task = some<Task>(
  { id: word, status },
  {
    contextId: word,
    artifacts: fc.array(artifact, { maxLength: 2 }),
    history: fc.array(message, { maxLength: 2 }),
    metadata: struct,
  },
)
const place = { taskId: word, contextId: word }
const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  fc.record({ task }),
  fc.record({ message }),
  fc.record({ statusUpdate: some<TaskStatusUpdateEvent>({ ...place, status }, { metadata: struct }) }),
  fc.record({
    artifactUpdate: some<TaskArtifactUpdateEvent>(
      { ...place, artifact },
      { append: fc.boolean(), lastChunk: fc.boolean(), metadata: struct },
    ),
  }),
)

/** Objects of fast-check sometimes have no prototype; parsed JSON always has one. */
const wire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

// -- garbage ----------------------------------------------------------------------------------------------------

const names = [
  ...['message', 'request', 'configuration', 'metadata', 'tenant', 'id', 'taskId', 'task_id', 'name', 'parent'],
  ...['messageId', 'message_id', 'role', 'parts', 'content', 'kind', 'type', 'text', 'raw', 'url', 'data', 'file'],
  ...['bytes', 'uri', 'fileWithBytes', 'mimeType', 'status', 'state', 'timestamp', 'artifact', 'artifacts', 'history'],
  ...['pushNotificationConfig', 'taskPushNotificationConfig', 'config', 'authentication', 'schemes', 'blocking'],
  ...['historyLength', 'pageSize', 'statusTimestampAfter', 'task', 'statusUpdate', 'artifactUpdate', 'part', 'error'],
  ...['supportedInterfaces', 'securitySchemes', 'security', 'skills', 'capabilities', 'version', 'code', 'details'],
  ...['__proto__', 'constructor', 'toString', 'inputRequest', 'toolUseId', 'referenceTaskIds', 'data_part_compat'],
]
const leaf = fc.oneof(
  fc.constantFrom('user', 'ROLE_USER', 'message', 'text', 'file', 'data', 'tool-result', 'constructor', '', 'working'),
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 2 ** 40, [], {}),
  fc.string({ maxLength: 5 }),
)
const { garbage } = fc.letrec<{ garbage: unknown }>((tie) => ({
  garbage: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.dictionary(fc.constantFrom(...names), tie('garbage'), { maxKeys: 6 }),
    fc.array(tie('garbage'), { maxLength: 3 }),
  ),
}))

type Node = { [key: string]: unknown }

/** A valid payload with one of its values replaced: readers fail on payloads that are almost right. */
function spoiled(payload: unknown, pick: number, replacement: unknown): unknown {
  const copy = wire(payload) as Node
  const places: [Node, string][] = []
  const open: Node[] = [copy]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const [key, value] of Object.entries(node)) {
      places.push([node, key])
      if (typeof value === 'object' && value !== null) open.push(value as Node)
    }
  }
  const [node, key] = places[pick % places.length] ?? [copy, 'message']
  Object.defineProperty(node, key, { value: replacement, enumerable: true, configurable: true, writable: true })
  return copy
}

/** The result, or the code of the error. Any other throw fails the test. */
function outcome<T>(run: () => T): { value: T } | { code: string } {
  try {
    return { value: run() }
  } catch (error) {
    if (error instanceof A2AError) return { code: error.code }
    throw error
  }
}

// -- snake_case -------------------------------------------------------------------------------------------------

/** Only names of fields: the content of metadata and data belongs to the caller. */
function snake(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snake)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      key === 'metadata' || key === 'data' ? inner : snake(inner),
    ]),
  )
}

for (const dialect of dialects) {
  describe(`in the dialect ${dialect.id}`, () => {
    it('every event round-trips', () => {
      fc.assert(
        fc.property(event, fc.boolean(), (given, final) => {
          const text = dialect.seal(JSON.stringify(dialect.writeEvent(given)), given, final)
          assert.deepEqual(dialect.decodeEvent(JSON.parse(text)), wire(given))
        }),
        runs(300),
      )
    })

    it('every task round-trips', () => {
      fc.assert(
        fc.property(task, (given) => {
          const read = dialect.decodeResult(
            'GetTask',
            JSON.parse(JSON.stringify(dialect.writeResult('GetTask', given))),
          )
          assert.deepEqual(read, wire(given))
        }),
        runs(300),
      )
    })

    it('every message survives being sent', () => {
      fc.assert(
        fc.property(message, struct, (message, metadata) => {
          const given: SendMessageRequest = { message, metadata }
          const read = dialect.decodeRequest('SendMessage', wire(dialect.encodeRequest('SendMessage', given)))
          assert.deepEqual({ message: read.message, metadata: read.metadata }, wire(given))
          assert.notEqual(read.configuration?.returnImmediately, true)
        }),
        runs(300),
      )
    })

    it('snake_case is read like camelCase [J-1]', () => {
      fc.assert(
        fc.property(message, (message) => {
          const payload = wire(dialect.encodeRequest('SendMessage', { message }))
          assert.deepEqual(
            dialect.decodeRequest('SendMessage', snake(payload)),
            dialect.decodeRequest('SendMessage', payload),
          )
        }),
        runs(300),
      )
    })

    it('an arbitrary payload is a request or INVALID_PARAMS, never another failure [B-38]', () => {
      fc.assert(
        fc.property(fc.constantFrom(...operations), fc.oneof(garbage, fc.jsonValue()), (operation, payload) => {
          const result = outcome(() => dialect.decodeRequest(operation, payload))
          if ('code' in result) {
            const expected =
              operation === 'ListTasks' && dialect.id !== '1.0' ? 'UNSUPPORTED_OPERATION' : 'INVALID_PARAMS'
            assert.equal(result.code, expected)
          } else {
            const again = dialect.decodeRequest(operation, wire(dialect.encodeRequest(operation, result.value)))
            assert.equal(typeof again, 'object')
          }
        }),
        runs(3_000),
      )
    })

    it('a valid message with one change is a request or INVALID_PARAMS [B-38]', () => {
      const options = runs(2_000)
      let refused = 0
      fc.assert(
        fc.property(message, fc.nat(1_000), garbage, (message, pick, replacement) => {
          const payload = spoiled(dialect.encodeRequest('SendMessage', { message }), pick, replacement)
          const result = outcome(() => dialect.decodeRequest('SendMessage', payload))
          if (!('code' in result)) return
          assert.equal(result.code, 'INVALID_PARAMS')
          refused += 1
        }),
        options,
      )
      assert.ok(refused > options.numRuns / 10, `only ${refused} of ${options.numRuns} were wrong at all`)
    })

    it('a valid event with one change is an event or INVALID_AGENT_RESPONSE', () => {
      fc.assert(
        fc.property(event, fc.nat(1_000), garbage, (event, pick, replacement) => {
          const payload = spoiled(JSON.parse(JSON.stringify(dialect.writeEvent(event))), pick, replacement)
          const result = outcome(() => dialect.decodeEvent(payload))
          if ('code' in result) assert.equal(result.code, 'INVALID_AGENT_RESPONSE')
          else assert.equal(typeof JSON.stringify(dialect.writeEvent(result.value)), 'string')
        }),
        runs(2_000),
      )
    })

    it('an arbitrary response is a result or INVALID_AGENT_RESPONSE, never another failure', () => {
      fc.assert(
        fc.property(fc.constantFrom(...operations), garbage, (operation, payload) => {
          const results = [
            outcome(() => dialect.decodeResult(operation, payload)),
            outcome(() => dialect.decodeEvent(payload)),
            outcome(() => dialect.decodeCard(payload)),
          ]
          for (const result of results) {
            if ('code' in result) assert.match(result.code, /^(INVALID_AGENT_RESPONSE|UNSUPPORTED_OPERATION)$/)
          }
          assert.ok(dialect.decodeError(payload, 500) instanceof A2AError)
        }),
        runs(2_000),
      )
    })
  })
}
