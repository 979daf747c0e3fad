/**
 * Opens a store, rotates its master key and kills itself with SIGKILL before or after one step of the rotation. Run by
 * rotate-master-killed.full.test.ts.
 */
import pg from 'pg'
import type { FullStore } from '@parley/a2a/stores'
import { createHandler } from '@parley/a2a/server'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { sqliteStore } from '@parley/a2a/stores/sqlite'

export interface RotateMasterSettings {
  /** The file, or the URL of the database with its master keys. */
  readonly file?: string
  readonly database?: string
  readonly masterKey?: string
  readonly previousMasterKeys?: readonly string[]
  readonly kill?: { readonly when: 'before' | 'after'; readonly step: 'createMasterKey' | 'replace' | 'adoptMasterKey' }
}

const settings = JSON.parse(process.argv[2] ?? '{}') as RotateMasterSettings
const { file, database, masterKey = '', previousMasterKeys = [], kill } = settings
const store: FullStore =
  file === undefined
    ? postgresStore({ pool: new pg.Pool({ connectionString: database }), masterKey, previousMasterKeys, endPool: true })
    : sqliteStore(file)

function end(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal ends the process before this loop does anything.
  for (;;);
}

if (kill !== undefined) {
  const { keys } = store
  const step = keys[kill.step]?.bind(keys) as (...args: unknown[]) => Promise<unknown>
  Object.assign(keys, {
    async [kill.step](...args: unknown[]) {
      if (kill.when === 'before') end()
      await step(...args)
      end()
    },
  })
}
const handler = createHandler({ name: 'rotated', agent: ({ text }) => text, store })
await handler.ready
console.log(`rotated ${await handler.rotateMasterKey()}`)
await handler.close()
