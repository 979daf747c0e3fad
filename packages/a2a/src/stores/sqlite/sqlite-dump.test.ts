import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { dumpContract, type DumpPlace } from '../../testing/dump-contract.ts'
import { day0 } from '../../testing/store-contract/harness.ts'
import { sqliteLoader, sqliteReader, sqliteStore } from './index.ts'

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
