/**
 * One case for each comment in `packages/` that says what a piece of code saves, as far as it can be measured alone: the code beside
 * what it replaces. A case whose alternative is not faster any more, in the run on a quiet machine, is a trick to remove.
 */
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { parseDocument } from 'yaml'
import { A2AError, newId } from '@parley/a2a'
import { ByteWriter } from '../../packages/a2a/src/bindings/grpc/byte-writer.ts'
import { encodeProtobuf } from '../../packages/a2a/src/bindings/grpc/codec.ts'
import { descriptorRegistry, messageDescriptor } from '../../packages/a2a/src/bindings/grpc/schema.ts'
import { InFlightMap } from '../../packages/a2a/src/engine/in-flight-map.ts'
import { createMac } from '../../packages/a2a/src/engine/keys/hmac-sha256.ts'
import { toTimestamp } from '../../packages/a2a/src/model/clock.ts'
import { nearestName } from '../../packages/a2a/src/model/command-line.ts'
import { openWalReader } from '../../packages/a2a/src/stores/sqlite/wal/wal-position.ts'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { requestAuditEntry, truncateField } from '../../packages/hub/src/audit/audit-log.ts'
import { parseYaml } from '../../packages/hub/src/config/config-document.ts'
import { editorSchema } from '../../packages/hub/src/config/json-schema.ts'

export interface Claim {
  /** What is measured. */
  readonly name: string
  /** The words of the comment, wherever it moves. */
  readonly says: string
  /** The code as it is. */
  readonly now: () => unknown
  /** What it replaces. Absent: the comment names one cost. */
  readonly instead?: () => unknown
}

const packages = join(import.meta.dirname, '../../packages')
const sources = globSync('*/src/**/*.{ts,tsx}', { cwd: packages })
  .filter((file) => !file.includes('.test.'))
  .map((file) => ({
    file,
    text: readFileSync(join(packages, file), 'utf8').replaceAll(/\s*\n\s*(\/\/|\*)?\s*/g, ' '),
  }))

/** The files whose comments say so, from `packages/`. */
export const filesOf = ({ says }: Claim): readonly string[] =>
  sources.filter(({ text }) => text.includes(says)).map(({ file }) => file)

const scratch = mkdtempSync(join(tmpdir(), 'parley-micro-'))
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))

function* timestamps(): Generator<Claim> {
  yield {
    name: 'a timestamp in the form that most peers write',
    says: '0.05 µs instead of 1.6',
    now: () => toTimestamp('2026-01-02T03:04:05.678Z'),
    instead: () => toTimestamp('2026-01-02T03:04:05.678+00:00'),
  }
  yield {
    name: 'an id, beside fetching its random bytes alone',
    says: 'Fetching random bytes costs more than using them',
    now: () => newId(1_700_000_000_000),
    instead: () => crypto.getRandomValues(new Uint8Array(8)),
  }
}

function* jsonTexts(): Generator<Claim> {
  const keys = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key ${at}`, at])))
  const oneString = JSON.stringify('x'.repeat(keys.length))
  yield {
    name: `parsing ${keys.length} bytes: one string beside 100,000 keys`,
    says: '12 MB with a million keys took 1.8 s of the event loop, 18 MB in one string 15 ms',
    now: () => parse(oneString),
    instead: () => parse(keys),
  }
  const envelope = JSON.stringify({
    jsonrpc: '2.0',
    id: 1e21,
    method: 'SendMessage',
    params: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }], metadata: { a: { b: [1] } } } },
  })
  yield {
    name: 'an envelope, beside one with a reviver',
    says: 'Parsing again with a reviver takes three times as long as parsing',
    now: () => parse(envelope),
    instead: () => parse(envelope, (_key, value) => value),
  }
  const long = JSON.stringify({ jsonrpc: '2.0', id: 1e21, params: 'lorem ipsum '.repeat(1_500_000) })
  const pattern = /"id"\s{0,100}:\s{0,100}(-?\d[\d.eE+-]{0,400})/g
  const sticky = new RegExp(pattern.source, 'y')
  yield {
    name: 'the id before a text of 18 MB: search for the name, beside the pattern alone',
    says: 'Searching for the name first takes a fraction of the time of the pattern alone',
    now() {
      for (let at = long.indexOf('"id"'); at >= 0; at = long.indexOf('"id"', at + 1)) {
        sticky.lastIndex = at
        sticky.exec(long)
      }
    },
    instead: () => [...long.matchAll(pattern)],
  }
  const lone = '\ud800'.repeat(10_000)
  const replaced = lone.toWellFormed()
  yield {
    name: 'writing 10,000 replaced characters, beside lone surrogates',
    says: 'also takes 70 ns for each',
    now: () => JSON.stringify(replaced),
    instead: () => JSON.stringify(lone),
  }
  const deep = { a: [{ b: { c: [1, 2, { d: 'x' }] } }, 'y'], e: { f: { g: 1 } } }
  yield {
    name: 'the depth of metadata: recursion beside a list of values',
    says: 'a list of the values took six times as long',
    now: () => isDeeper(deep, 32),
    instead: () => isDeeperByLists(deep, 32),
  }
}

const parse = (text: string, reviver?: (key: string, value: unknown) => unknown): unknown => JSON.parse(text, reviver)

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const item of value) if (isDeeper(item, levels - 1)) return true
    return false
  }
  const fields = value as Record<string, unknown>
  for (const key in fields) if (isDeeper(fields[key], levels - 1)) return true
  return false
}

function isDeeperByLists(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((item) => isDeeperByLists(item, levels - 1))
}

function* protobuf(): Generator<Claim> {
  const typeName = 'lf.a2a.v1.StreamResponse'
  const event = {
    artifactUpdate: {
      taskId: newId(),
      contextId: newId(),
      artifact: { artifactId: 'answer', parts: [{ text: 'twenty-four characters..' }] },
      append: true,
    },
  }
  const message = messageDescriptor(typeName)
  const registry = descriptorRegistry
  yield {
    name: 'a small event as protobuf, beside the library',
    says: '5.8 µs for a small event, against 1.5 here',
    now: () => encodeProtobuf(typeName, event),
    instead: () => toBinary(message, fromJson(message, event as JsonValue, { registry })),
  }
  const own = new ByteWriter()
  const write = (writer: ByteWriter | BinaryWriter): Uint8Array =>
    writer
      .tag(4, WireType.LengthDelimited)
      .fork()
      .tag(1, WireType.LengthDelimited)
      .string(event.artifactUpdate.taskId)
      .tag(3, WireType.LengthDelimited)
      .fork()
      .tag(4, WireType.LengthDelimited)
      .fork()
      .tag(1, WireType.LengthDelimited)
      .string('twenty-four characters..')
      .join()
      .join()
      .join()
      .finish()
  yield {
    name: 'nested messages into one buffer, beside the writer of the library',
    says: 'which took 4 of the 5.6 µs that encoding a small event took',
    now: () => write(own),
    instead: () => write(new BinaryWriter()),
  }
}

async function* keys(): AsyncGenerator<Claim> {
  const secret = crypto.getRandomValues(new Uint8Array(32))
  const mac = createMac(secret)
  const text = JSON.stringify({ messageId: newId(), parts: [{ text: 'hello' }] })
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const encoder = new TextEncoder()
  yield {
    name: 'the MAC of a short text, beside WebCrypto',
    says: '13 to 20 µs for what takes 3',
    now: () => mac(text),
    instead: () => crypto.subtle.sign('HMAC', key, encoder.encode(text)),
  }
  const state = new Int32Array(8).fill(7)
  yield {
    name: 'eight numbers of a typed array: one by one, beside destructuring',
    says: 'destructuring took five times as long',
    now() {
      const a = state[0] as number
      const b = state[1] as number
      const c = state[2] as number
      const d = state[3] as number
      const e = state[4] as number
      const f = state[5] as number
      const g = state[6] as number
      const h = state[7] as number
      return a + b + c + d + e + f + g + h
    },
    instead() {
      const [a, b, c, d, e, f, g, h] = state as unknown as Eight
      return a + b + c + d + e + f + g + h
    },
  }
}

type Eight = [number, number, number, number, number, number, number, number]

class WithGetters {
  readonly #value: number
  constructor(value: number) {
    this.#value = value
  }
  get one(): number {
    return this.#value
  }
  get two(): number {
    return this.#value + 1
  }
  three = (): number => this.#value
}

function* objects(): Generator<Claim> {
  let count = 0
  const asClass = (): unknown => new WithGetters(count++)
  const asLiteral = (): unknown => {
    const value = count++
    return {
      get one() {
        return value
      },
      get two() {
        return value + 1
      },
      three: () => value,
    }
  }
  for (const says of [
    'an object literal creates its getters again for each request',
    'an object literal creates them again for each call',
    'which cost 12 µs per task',
  ])
    yield { name: 'getters: of a class, beside an object literal', says, now: asClass, instead: asLiteral }
  const call = {
    agent: 'main',
    caller: { id: 'ann' },
    endpoint: 'call',
    operation: 'SendMessage',
    binding: 'JSONRPC',
    version: '1.0',
    outcome: 'OK',
    status: 200,
    taskId: newId(),
    durationMs: 1.5,
    clientAddress: '127.0.0.1',
  } as const
  const about = { at: 1_700_000_000_000, keyId: 'k' }
  yield {
    name: 'an audit entry: fields one by one, beside conditional spreads',
    says: 'conditional spreads took four times as long',
    now: () => requestAuditEntry(call as unknown as Parameters<typeof requestAuditEntry>[0], about),
    instead: () => entryBySpreads({ ...call, ...about }),
  }
  yield {
    name: 'no signal, beside one with a listener that is aborted',
    says: 'which took 4 µs of each task',
    now: () => undefined,
    instead() {
      const controller = new AbortController()
      controller.signal.addEventListener('abort', () => {})
      controller.abort()
    },
  }
  yield {
    name: 'no error, beside one with its stack',
    says: 'an error with its stack took 13 µs of each',
    now: () => undefined,
    instead: () => atDepth(20, () => new A2AError('INVALID_REQUEST', 'The request ended early').stack),
  }
  const slots = new InFlightMap<object>()
  const plain = new Map<string, object>()
  const ids = Array.from({ length: 4_096 }, () => newId())
  const inFlight = 64
  const cycle = (map: { set(key: string, value: object): unknown; delete(key: string): unknown }) => (): void => {
    const at = count++
    map.set(ids[at % ids.length] as string, { text: `value ${at}`, more: ids.slice(0, 20) })
    map.delete(ids[(at - inFlight) % ids.length] ?? '')
  }
  yield {
    name: 'a map of 64 short-lived entries, beside Map',
    says: 'take 15 % more CPU',
    now: cycle(slots),
    instead: cycle(plain),
  }
}

const atDepth = <T>(levels: number, act: () => T): T => (levels === 0 ? act() : atDepth(levels - 1, act))

function entryBySpreads(call: {
  readonly at: number
  readonly keyId?: string
  readonly agent: string
  readonly caller?: { readonly id: string }
  readonly operation?: string
  readonly version?: string
  readonly taskId?: string
  readonly clientAddress?: string
}): object {
  const { at, keyId, agent, caller, operation, version, taskId, clientAddress } = call
  return {
    at,
    ...(caller === undefined ? {} : { who: truncateField(caller.id) }),
    ...(keyId === undefined ? {} : { key: keyId }),
    agent: truncateField(agent),
    ...(operation === undefined ? {} : { operation }),
    ...(version === undefined ? {} : { version }),
    ...(taskId === undefined || !/^[\w.:-]{1,64}$/.test(taskId) ? {} : { task: taskId }),
    ...(clientAddress === undefined ? {} : { from: truncateField(clientAddress) }),
  }
}

async function* runtime(): AsyncGenerator<Claim> {
  const name = '../../packages/a2a/src/model/command-line.ts'
  const loaded: unknown = await import(name)
  yield {
    name: 'a loaded module from a variable, beside import()',
    says: 'Node takes 30 µs for an `import()`',
    now: () => loaded,
    instead: () => import(name),
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { text: 'hello' } })
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', host: 'localhost' }
  yield {
    name: 'a record of a request, beside a web Request and Response',
    says: 'that costs 65-85 % of node:http',
    now: () => ({
      request: { method: 'POST', path: '/', query: '', headers },
      response: { status: 200, headers, body },
    }),
    async instead() {
      const request = new Request('http://localhost/', { method: 'POST', headers, body })
      return new Response(await request.text(), { status: 200, headers }).text()
    },
  }
}

function* sqlite(): Generator<Claim> {
  const path = join(scratch, 'micro.db')
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (id INTEGER PRIMARY KEY)')
  const wal = openWalReader(path)
  const bytes = Buffer.alloc(16_000_000, 7)
  yield {
    name: 'the position of the WAL, beside a checksum of 16 MB',
    says: '0.7 µs, while a checksum over the WAL itself takes 20 ms for 16 MB',
    now: () => wal.read(),
    instead: () => crc32(bytes),
  }
}

function* configuration(): Generator<Claim> {
  const names = Array.from({ length: 40 }, (_, at) => `settingNumber${at}`)
  yield {
    name: 'the nearest of 40 names',
    says: 'Finding similar names takes 100 µs',
    now: () => nearestName('settingNumbr41', names),
  }
  const text = Array.from({ length: 10_000 }, (_, at) => `key${at}: ${at}\n`).join('')
  yield {
    name: 'YAML with 10,000 keys, beside keys that are compared',
    says: 'each with all before it took 4 s for 10,000 keys',
    now: () => parseYaml(text),
    instead: () => parseDocument(text),
  }
  yield {
    name: 'the schema for editors',
    says: 'it takes 123 ms of CPU time',
    now: () => editorSchema(agentKinds),
  }
}

export async function* claims(): AsyncGenerator<Claim> {
  yield* timestamps()
  yield* jsonTexts()
  yield* protobuf()
  yield* keys()
  yield* objects()
  yield* runtime()
  yield* sqlite()
  yield* configuration()
}
