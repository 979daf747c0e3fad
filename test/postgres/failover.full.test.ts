/**
 * What asynchronous replication may lose, on a real pair of servers: the last moments, and nothing before them. If a process or a
 * reader is ahead of the remaining log, it stays consistent: a turn that is ahead of its log ends and is resumed from
 * the log, and a reader gets the current task.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { artifact, type A2AError, type Agent } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { openTcpProxy } from '../cluster/tcp-proxy.ts'
import { artifactText, openTestEngine, statesOf } from '../../packages/a2a/src/testing/fixtures/test-engine.ts'
import {
  assertAppended,
  chunks,
  createTask,
  recordTexts,
} from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { clientOptions, startCluster } from './cluster.ts'
import { masterKey, openDatabase } from './databases.ts'
import { killServer, standbySkipReason, promote, startStandby } from './standby.ts'

const leaseTtlMs = 2_000
const numbers = 150
const whole = Array.from({ length: numbers }, (_, n) => `${n} `).join('')

/** Continues where the log ends. */
const counter: Agent = {
  resume: 'rerun',
  async *run({ resumed, signal }) {
    const text = resumed?.task.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? ''
    for (let n = text.split(' ').length - 1; n < numbers && !signal.aborted; n += 1) {
      await sleep(20)
      yield artifact('count', { text: `${n} `, append: n > 0, last: n === numbers - 1 })
    }
  },
}

const skip = await standbySkipReason()
describe('a failover to a lagging server', { skip, timeout: 120_000 }, async () => {
  if (skip !== false) return
  const primary = await openDatabase(await startCluster())
  const { cluster, name } = primary
  const replication = await openTcpProxy(cluster)
  const line = await openTcpProxy(cluster)
  const standby = await startStandby(cluster, 'asynchronous', replication.port)
  const opened: FullStore[] = []
  after(async () => {
    await Promise.all(opened.map((store) => store.close()))
    await Promise.all([replication.close(), line.close()])
  })

  function open(): FullStore {
    const options = { ...clientOptions(cluster, name), port: line.port }
    const pool = new pg.Pool({ ...options, max: 4 })
    const listen = () => new pg.Client(options)
    const store = postgresStore({ pool, listen, masterKey, leaseTtlMs, endPool: true })
    opened.push(store)
    return store
  }

  it('loses the end of the acknowledged records, leaves no gap, and turns continue from there', async (t) => {
    const [one, two] = [open(), open()]
    const here = await openTestEngine(t, counter, { store: one, sweepMs: 100 })
    const there = await openTestEngine(t, counter, { store: two, sweepMs: 100 })
    const { id } = await here.start('go')
    const near = await here.subscribe(id)
    const far = await there.subscribe(id)
    const quiet = await createTask(one)
    for (let n = 1; n <= 5; n += 1) await assertAppended(one, quiet.id, { expectedSeq: n, records: chunks(`${n}`) })
    const endings = Promise.all(
      [near, far].map((reader) =>
        reader.rest().then(
          () => 'came to its end',
          (reason: A2AError) => reason.code,
        ),
      ),
    )
    const headOf = async (store: FullStore): Promise<number> => (await store.tasks.load(id))?.head ?? 0
    await eventually(async () => (await headOf(one)) >= 30)

    replication.set('silent')
    await sleep(300)
    for (let n = 6; n <= 9; n += 1) await assertAppended(one, quiet.id, { expectedSeq: n, records: chunks(`${n}`) })
    const lost = await createTask(one)
    await two.kv.write('kind', { key: 'late', value: 1 })
    const acknowledged = await headOf(two)
    killServer(cluster)
    replication.set('cut')
    await promote(standby)
    line.leadTo(standby)

    const survived = await headOf(two)
    console.log(`${acknowledged} records were acknowledged, ${survived} are left`)
    assert.ok(survived > 20 && survived < acknowledged, `${survived} of ${acknowledged}`)
    assert.equal(await two.tasks.load(lost.id), undefined)
    assert.equal(await two.kv.read('kind', 'late'), undefined)
    assert.deepEqual(recordTexts(await two.tasks.read(quiet.id, 1)), ['1', '2', '3', '4', '5'])
    assert.deepEqual(await one.tasks.append(quiet.id, { expectedSeq: 10, records: chunks('10') }), {
      outcome: 'conflict',
      head: 6,
    })

    // They received events that are lost now: they are disconnected, and get the current task when they reconnect.
    assert.deepEqual(await endings, ['UNAVAILABLE', 'UNAVAILABLE'])
    for (const testEngine of [here, there]) {
      const rest = await (await testEngine.subscribe(id, { lastEventId: acknowledged }, 'replay')).rest()
      assert.equal(statesOf(rest).at(-1), 'COMPLETED')
      assert.equal(artifactText(await testEngine.get(id), 'count'), whole)
    }
    const records = await one.tasks.read(id, 0)
    assert.deepEqual(
      records.map(({ seq }) => seq),
      records.map((_, index) => index + 1),
    )
    assert.deepEqual(await two.tasks.read(id, 0), records)
  })
})
