/** Places for stores of both kinds, empty at first. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { postgresLoader, postgresReader, sqliteLoader, sqliteReader } from '@parley/a2a/stores/dump'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import type { DumpPlace } from '../../packages/a2a/src/testing/dump-contract.ts'
import { day0 } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import type { TestDatabase } from '../postgres/databases.ts'

/** Each call creates a file name in a directory that is removed after the tests. */
export function sqlitePlaces(): () => DumpPlace & { readonly file: string } {
  const directory = mkdtempSync(join(tmpdir(), 'parley-operations-'))
  after(() => rmSync(directory, { recursive: true }))
  let places = 0
  return () => {
    const file = join(directory, `${(places += 1)}.db`)
    return {
      file,
      open: () => sqliteStore({ file, now: () => day0 }),
      reader: () => sqliteReader(file),
      loader: () => sqliteLoader({ file, now: () => day0 }),
    }
  }
}

/** Each call names a schema that does not exist yet. */
export function postgresPlaces(database: TestDatabase): () => DumpPlace & { readonly schema: string } {
  let places = 0
  return () => {
    const schema = `place ${(places += 1)}`
    const options = { connect: () => database.client(), schema }
    return {
      schema,
      open: () => database.open({ schema, now: () => day0 }),
      reader: () => postgresReader(options),
      loader: () => postgresLoader(options),
    }
  }
}
