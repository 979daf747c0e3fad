/**
 * Real payloads with their canonical form, in `<version>/golden/*.json`: each is decoded, encoded and decoded again. The
 * encoded text may differ from the payload only where the file has it as `encoded` with the reason.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import type { AgentCard } from '../model/card.ts'
import type { Operation, RequestOf, ResultOf } from '../model/operation.ts'
import type { StreamEvent } from '../model/task.ts'
import { versions } from './index.ts'
import type { Dialect } from './version.ts'

interface Step {
  readonly title: string
  readonly request?: Operation
  readonly result?: Operation
  readonly event?: true
  readonly card?: true
  /** The HTTP status of an error body, or `true` for a JSON-RPC error. */
  readonly error?: number | true
  readonly payload: unknown
  readonly canonical: unknown
  /** The encoded form of `canonical`, if it is not `payload`; `differs` then gives the reason. */
  readonly encoded?: unknown
  readonly differs?: string
  /** The decoded form of `encoded`, if the dialect cannot carry everything. */
  readonly again?: unknown
  /** For a status update in 0.x. */
  readonly final?: boolean
  /** A payload that peers send and we never do: only decoded. */
  readonly readOnly?: string
}
interface Golden {
  readonly about: string
  readonly dialect: 'json' | 'proto'
  readonly rules?: string
  readonly steps: readonly Step[]
}

const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))

interface Codec {
  decode(payload: unknown): unknown
  encode(canonical: unknown): unknown
}

function codec(step: Step, dialect: Dialect): Codec {
  if (step.request !== undefined) {
    const operation = step.request
    return {
      decode: (payload) => dialect.decodeRequest(operation, payload),
      encode: (canonical) => plain(dialect.encodeRequest(operation, canonical as RequestOf<Operation>)),
    }
  }
  if (step.result !== undefined) {
    const operation = step.result
    return {
      decode: (payload) => dialect.decodeResult(operation, payload),
      encode: (canonical) =>
        JSON.parse(JSON.stringify(dialect.writeResult(operation, canonical as ResultOf<Operation>))),
    }
  }
  if (step.event !== undefined) {
    return {
      decode: (payload) => dialect.decodeEvent(payload),
      encode(canonical) {
        const event = canonical as StreamEvent
        return JSON.parse(dialect.seal(JSON.stringify(dialect.writeEvent(event)), event, step.final ?? false))
      },
    }
  }
  if (step.card !== undefined) {
    return {
      decode: (payload) => dialect.decodeCard(payload, true),
      encode: (canonical) => plain(dialect.encodeCard(canonical as AgentCard)),
    }
  }
  return {
    decode(payload) {
      const { code, message, details } = dialect.decodeError(payload, step.error === true ? undefined : step.error)
      return { code, message, details }
    },
    encode: () => assert.fail('errors are only read'),
  }
}

function check(step: Step, dialect: Dialect): void {
  const { decode, encode } = codec(step, dialect)
  const canonical = decode(step.payload)
  assert.deepEqual(plain(canonical), step.canonical)
  if (step.readOnly !== undefined || step.error !== undefined) return
  const encoded = encode(step.canonical)
  if (step.encoded === undefined) assert.deepEqual(encoded, step.payload)
  else {
    assert.deepEqual(encoded, step.encoded)
    assert.notDeepEqual(encoded, step.payload, 'the file claims a difference that is none')
    assert.ok(step.differs, 'a difference needs a reason')
  }
  const again = plain(decode(encoded))
  assert.deepEqual(again, step.again ?? step.canonical)
  assert.deepEqual(encode(again), encoded, 'what was written is read and written alike')
}

for (const version of versions) {
  const folder = new URL(`./v${version.id.replace('.', '_')}/golden/`, import.meta.url)
  describe(`the golden files of ${version.id}`, () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
    it('exist', () => assert.ok(files.length > 0))
    for (const file of files) {
      const golden = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Golden
      describe(`${file}: ${golden.about}`, () => {
        for (const step of golden.steps) {
          const rules = golden.rules === undefined ? '' : ` [${golden.rules}]`
          it(`${step.title} is decoded and encoded as expected${rules}`, () => check(step, version[golden.dialect]))
        }
      })
    }
  })
}
