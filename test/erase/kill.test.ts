/**
 * A process that is killed while it erases and compacts a SQLite file: the file opens again without a report of lost writes, every
 * acknowledged task is there, and repeating the erasure removes the text from every file.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, it } from 'node:test'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { bobPartition, chunks, createTask } from '../../packages/a2a/src/testing/store-contract/harness.ts'

const secret = 'Sommergewitter'
const childFlag = '--erase-in'
const folderAt = process.argv.indexOf(childFlag)
if (folderAt > 0) void eraseForever(process.argv[folderAt + 1] as string)
else describeKills()

/** The child: writes tasks of two owners, erases those of one, compacts, again and again. Tells every task of the other. */
async function eraseForever(folder: string): Promise<void> {
  const store = sqliteStore(join(folder, 'tasks.db'))
  const tell = (line: string): void => void writeSync(1, `${line}\n`)
  for (;;) {
    const own: string[] = []
    for (let n = 0; n < 20; n += 1) {
      own.push((await createTask(store, {}, { records: chunks(`${secret} `.repeat(50)) })).id)
      tell((await createTask(store, bobPartition, { records: chunks('kept') })).id)
    }
    await store.erasure.erase({ taskIds: own })
    await store.erasure.removeOrphans()
    tell('erased')
    const { isDone } = await store.erasure.compact()
    tell(isDone ? 'compacted' : 'not compacted')
  }
}

function filesWithSecret(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(secret))
}

function describeKills(): void {
  const rounds = process.env['PARLEY_FULL'] === '1' ? 40 : 6
  describe('a process that is killed during an erasure', () => {
    it('leaves a file that opens without an alarm, with everything that was acknowledged', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'parley-erase-'))
      after(() => rmSync(folder, { recursive: true }))
      const told = new Set<string>()
      for (let round = 0; round < rounds; round += 1) {
        const child = spawn(process.execPath, ['--conditions=parley-source', import.meta.filename, childFlag, folder], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        // Right after an erasure, right after a compaction, or during the writes that follow.
        const until = ['erased', 'compacted', 'task'][round % 3]
        let hasCompacted = false
        for await (const line of createInterface({ input: child.stdout })) {
          assert.notEqual(line, 'not compacted')
          if (line !== 'erased' && line !== 'compacted') told.add(line)
          if (line === 'compacted') hasCompacted = true
          if (line === until || (until === 'task' && hasCompacted && line !== 'compacted')) child.kill('SIGKILL')
        }
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
        const store = sqliteStore(join(folder, 'tasks.db'))
        for (const id of told) assert.equal((await store.tasks.read(id, 0)).length, 1, id)
        const left = await store.tasks.search({ owner: 'alice', limit: 1_000 })
        await store.erasure.erase({ taskIds: left.tasks.map(({ id }) => id) })
        assert.equal((await store.erasure.compact()).isDone, true)
        assert.deepEqual(filesWithSecret(folder), [])
        await store.close()
        assert.deepEqual(filesWithSecret(folder), [])
      }
    })
  })
}
