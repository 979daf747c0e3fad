/** The server restarts under load, properly and after a crash: everything acknowledged is stored, complete and once. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from '@parley/a2a'
import {
  artifactText,
  chunksOf,
  openTestEngine,
  statesOf,
} from '../../packages/a2a/src/testing/fixtures/test-engine.ts'
import {
  assertAppended,
  chunks,
  createTask,
  recordTexts,
} from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { startCluster, startServer, stopServer } from './cluster.ts'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
describe('a server that restarts', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase(await startCluster())

  for (const how of ['fast', 'immediate'] as const) {
    it(`delays requests and loses nothing (${how})`, { timeout: 120_000 }, async () => {
      const store = database.open({ leaseTtlMs: 30_000, listen: () => database.client() })
      const other = database.open({ leaseTtlMs: 30_000, listen: () => database.client() })
      const tasks = await Promise.all(Array.from({ length: 10 }, () => createTask(store)))
      let isOver = false
      const writing = tasks.map(async ({ id }) => {
        let head = 1
        while (!isOver)
          ({ head } = await assertAppended(store, id, { expectedSeq: head, records: chunks(`${head + 1}`) }))
        return head
      })
      for (let round = 0; round < 3; round += 1) {
        await sleep(150)
        stopServer(database.cluster, how)
        await sleep(100)
        await startServer(database.cluster)
      }
      isOver = true
      const heads = await Promise.all(writing)
      assert.ok(heads.every((head) => head > 3))
      for (const [n, { id }] of tasks.entries()) {
        const expected = Array.from({ length: heads[n]! - 1 }, (_, index) => `${index + 2}`)
        assert.deepEqual(recordTexts(await other.tasks.read(id, 1)), expected)
      }
      const waiting = other.tasks.changed(tasks[0]!.id, heads[0]!, new AbortController().signal)
      await assertAppended(store, tasks[0]!.id, { expectedSeq: heads[0]!, records: chunks('news') })
      await waiting
    })
  }

  it('is reported as not ready while it is down, and as ready when it is back', { timeout: 120_000 }, async () => {
    const store = database.open()
    await store.ready?.()
    stopServer(database.cluster, 'fast')
    while (
      await store.ready?.().then(
        () => true,
        () => false,
      )
    )
      await sleep(10)
    await startServer(database.cluster)
    await store.ready?.()
  })

  it('does not end running turns or open streams', { timeout: 120_000 }, async (t) => {
    const open = () => database.open({ schema: 'turns', leaseTtlMs: 20_000, listen: () => database.client() })
    const agent: Agent = async function* () {
      for (let n = 0; n < 60; n += 1) {
        yield `${n} `
        await sleep(20)
      }
    }
    const here = await openTestEngine(t, agent, { store: open(), sweepMs: 100 })
    const there = await openTestEngine(t, agent, { store: open(), sweepMs: 100 })
    const started = await Promise.all(Array.from({ length: 10 }, () => here.start('go')))
    const readers = await Promise.all(started.map(({ id }) => there.subscribe(id)))
    const seen = Promise.all(readers.map((reader) => reader.rest()))
    await sleep(300)
    stopServer(database.cluster, 'immediate')
    await sleep(100)
    await startServer(database.cluster)
    const expected = Array.from({ length: 60 }, (_, n) => `${n} `)
    for (const items of await seen) {
      assert.equal(statesOf(items).at(-1), 'COMPLETED')
      assert.ok(expected.join('').endsWith(chunksOf(items).join('')))
    }
    for (const { id } of started) assert.equal(artifactText(await there.get(id)), expected.join(''))
  })
})
