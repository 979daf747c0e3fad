/** The store contract on a real server in three modes: default, behind a pooler, and with replicas that notify each other. */
import { storeContract } from '@parley/a2a/testing'
import type { FullStore } from '@parley/a2a/stores'
import type { PostgresStoreOptions } from '@parley/a2a/stores/postgres'
import type { OpenStore } from '../../packages/a2a/src/testing/store-contract.ts'
import { openDatabase, skipReason } from './databases.ts'
import { describe } from 'node:test'

const skip = await skipReason()
if (skip !== false) describe('postgresStore', { skip })
else {
  const database = await openDatabase()
  let schemas = 0

  /** Each test has its own schema. */
  const opener = (options: Partial<PostgresStoreOptions>): OpenStore<FullStore> => {
    return async () => {
      const schema = `contract ${(schemas += 1)}`
      let time = Date.UTC(2030, 0, 1)
      const open = () => database.open({ ...options, schema, now: () => time })
      let store = open()
      return {
        store,
        clock: { now: () => time, advance: (ms) => void (time += ms) },
        reopen: async () => {
          await store.close()
          store = open()
          return store
        },
        dispose: () => store.close(),
      }
    }
  }

  storeContract('postgresStore', opener({}))
}
