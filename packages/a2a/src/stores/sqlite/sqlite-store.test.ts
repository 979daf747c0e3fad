import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeContract, type OpenedStore } from '../../testing/store-contract.ts'
import type { FullStore } from '../store.ts'
import { day0 } from '../../testing/store-contract/harness.ts'
import { sqliteStore } from './index.ts'

function opener(durability: 'full' | 'normal') {
  return async (): Promise<OpenedStore<FullStore>> => {
    const directory = await mkdtemp(join(tmpdir(), 'parley-'))
    let time = day0
    const open = () => sqliteStore({ file: join(directory, 'tasks.db'), durability, now: () => time })
    let store = open()
    return {
      store,
      clock: { now: () => time, advance: (ms) => void (time += ms) },
      reopen: async () => {
        await store.close()
        store = open()
        return store
      },
      dispose: async () => {
        await store.close()
        await rm(directory, { recursive: true })
      },
    }
  }
}

storeContract('sqliteStore at full durability', opener('full'))
storeContract('sqliteStore at normal durability', opener('normal'))
