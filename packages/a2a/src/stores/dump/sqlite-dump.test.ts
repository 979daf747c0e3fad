import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { dumpContract, type DumpPlace } from '../../testing/dump-contract.ts'
import { day0 } from '../../testing/store-contract/harness.ts'
import { sqliteLoader } from './sqlite/sqlite-loader.ts'
import { sqliteReader } from './sqlite/sqlite-reader.ts'
import { sqliteStore } from '../sqlite/index.ts'

const directory = mkdtempSync(join(tmpdir(), 'parley-dump-'))
after(() => rmSync(directory, { recursive: true }))
let places = 0

dumpContract('sqliteStore', async (): Promise<DumpPlace> => {
  const file = join(directory, `${(places += 1)}.db`)
  return {
    open: () => sqliteStore({ file, now: () => day0 }),
    reader: () => sqliteReader(file),
    loader: () => sqliteLoader({ file, now: () => day0 }),
  }
})

it('a load that cannot begin, such as on a full disk, leaves no file that keeps a store from opening', async () => {
  const file = join(directory, 'full.db')
  const now = (): number => {
    throw new Error('database or disk is full')
  }
  await assert.rejects(sqliteLoader({ file, now }), /disk is full/)
  assert.equal(existsSync(`${file}.partial`), false)
  await sqliteStore(file).close()
})

it('a load that failed leaves nothing, and keeps the lock file of a store that was there', async () => {
  const folder = mkdtempSync(join(directory, 'failed-'))
  const file = join(folder, 'new.db')
  await (await sqliteLoader(file)).close()
  assert.deepEqual(readdirSync(folder), [])
  await sqliteStore(file).close()
  await assert.rejects(sqliteLoader(file), /is not empty/)
  assert.equal(existsSync(`${file}.lock`), true)
})
