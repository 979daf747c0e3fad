/**
 * The whole benchmark runs in quick mode. Speed is not checked here, where other tests run at
 * the same time: only that every contestant did all its work, and what does not depend on the clock.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { skipReason } from '../test/postgres/databases.ts'

interface Line {
  readonly name: string
  readonly parley: number
  readonly rival: number | null
  readonly limit: number | null
  readonly ratio: number | null
}

const skip = await skipReason()
const program = fileURLToPath(new URL('main.ts', import.meta.url))

describe('the benchmark in quick mode', () => {
  let lines: readonly Line[] = []
  const valueOf = (name: string): number => lines.find((line) => line.name === name)?.parley ?? Number.NaN

  before(async () => {
    const args = ['--conditions=parley-source', program, '--quick', '--json']
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 600_000, maxBuffer: 1e7 })
    lines = stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
  })

  it('prints every measure as a line of JSON with its three contestants', () => {
    const measures = ['message', 'task', 'get', 'stream20', 'chunks1000', 'chunks4000', 'chunks16000', 'fanout']
    for (const name of measures) assert.ok(valueOf(name) > 0, `${name} was not measured`)
    for (const line of lines) {
      assert.deepEqual(Object.keys(line), ['name', 'parley', 'hub', 'rival', 'limit', 'ratio'])
      assert.ok(Number.isFinite(line.parley), `${line.name} was not measured`)
    }
  })

  it('stores four times the chunks in four times the bytes', () => {
    const times = valueOf('stored16000') / valueOf('stored4000')
    assert.ok(times <= 4.4, `${times} times as many`)
  })

  it('measures replicas on PostgreSQL: throughput, latency between replicas, cost of silent readers', { skip }, () => {
    const places = ['sqlite', 'postgres', 'replicas']
    for (const place of places) for (const what of ['Task', 'Events']) assert.ok(valueOf(`${place}${what}`) > 0, place)
    for (const name of ['sameP50', 'sameP99', 'crossP50', 'crossP99']) assert.ok(valueOf(name) > 0, name)
    // A thousand readers: none of them has its own connection or query.
    assert.ok(valueOf('idleConnections') < 20, `${valueOf('idleConnections')} connections more`)
    assert.ok(valueOf('idleStatements') < 100, `${valueOf('idleStatements')} statements a second more`)
  })

  it('delivers one event to all of a thousand subscribers', () => {
    assert.equal(valueOf('fanoutReceived'), 1_000)
  })
})
