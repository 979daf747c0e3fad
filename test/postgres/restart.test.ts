/** The server goes down under load, in order and by a crash, and comes back: what was acknowledged is there, whole and once. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { appended, chunks, create, words } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { startCluster, startServer, stopServer } from './cluster.ts'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
describe('a server that restarts', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase(await startCluster())

  for (const how of ['fast', 'immediate'] as const) {
    it(`costs time and nothing else (${how})`, { timeout: 60_000 }, async () => {
      const store = database.open({ leaseTtlMs: 30_000, listen: () => database.client() })
      const other = database.open({ leaseTtlMs: 30_000, listen: () => database.client() })
      const tasks = await Promise.all(Array.from({ length: 10 }, () => create(store)))
      let isOver = false
      const writing = tasks.map(async ({ id }) => {
        let head = 1
        while (!isOver) ({ head } = await appended(store, id, { expectedSeq: head, records: chunks(`${head + 1}`) }))
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
        assert.deepEqual(words(await other.read(id, 1)), expected)
      }
      const waiting = other.changed(tasks[0]!.id, heads[0]!, new AbortController().signal)
      await appended(store, tasks[0]!.id, { expectedSeq: heads[0]!, records: chunks('news') })
      await waiting
    })
  }
})
