/** The dump of a store in PostgreSQL, and the way from one kind of store to the other and back. */
import { describe, it } from 'node:test'
import {
  assertSameDump,
  dumpContract,
  dumpOf,
  loadDump,
  type DumpPlace,
} from '../../packages/a2a/src/testing/dump-contract.ts'
import { fillWithVariedContent } from '../../packages/a2a/src/testing/store-contract/varied-content.ts'
import { openDatabase, skipReason } from '../postgres/databases.ts'
import { postgresPlaces, sqlitePlaces } from './dump-places.ts'

const skip = await skipReason()
if (skip !== false) describe('dumps of PostgreSQL', { skip })
else {
  const database = await openDatabase()
  const postgresPlace = postgresPlaces(database)
  const sqlitePlace = sqlitePlaces()

  dumpContract('postgresStore', async () => postgresPlace())

  const routes: readonly (readonly [name: string, ...places: (() => DumpPlace)[]])[] = [
    ['SQLite to PostgreSQL and back', sqlitePlace, postgresPlace, sqlitePlace],
    ['PostgreSQL to SQLite and back', postgresPlace, sqlitePlace, postgresPlace],
  ]

  describe('a move between stores', () => {
    for (const [name, first, ...others] of routes) {
      it(`gives the same export at every stop: ${name}`, async () => {
        const from = (first as () => DumpPlace)()
        const store = from.open()
        await fillWithVariedContent(store)
        await store.close()
        const dump = await dumpOf(from)
        for (const place of others.map((create) => create())) {
          await loadDump(place, dump)
          assertSameDump(await dumpOf(place), dump)
        }
      })
    }
  })
}
