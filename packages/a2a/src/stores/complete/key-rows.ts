/** The keys of the keyring in one row of a log store, for a store that has no place of its own for them. */
import type { Json } from '../../model/task.ts'
import type { LogStore } from '../log-store.ts'
import type { KeyRow, KeyStore } from '../store.ts'

/** No task has this id: those of the engine are UUIDs. */
export const keysRowId = 'parley:keys'

const maxAttempts = 20

export function createKeyRows(log: LogStore): KeyStore {
  async function load(): Promise<{ readonly version: number; readonly keys: readonly KeyRow[] }> {
    const row = await log.load(keysRowId)
    return { version: row?.version ?? 0, keys: (row?.data ?? []) as unknown as readonly KeyRow[] }
  }

  /** `undefined`: nothing is to be changed. Returns whether something was. */
  async function change(decide: (keys: readonly KeyRow[]) => readonly KeyRow[] | undefined): Promise<boolean> {
    const names = { tenant: '', agent: '', owner: '', contextId: '', state: '' }
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const { version, keys } = await load()
      const data = decide(keys) as unknown as Json | undefined
      if (data === undefined) return false
      // Open, so that no rule removes it.
      const row = { id: keysRowId, version: version + 1, ...names, statusAt: 0, isOpen: true, data }
      if (await log.append({ row, records: [] })) return true
    }
    throw new Error('Another process writes the keys all the time')
  }

  return {
    list: async () => (await load()).keys,
    save: async (key) => {
      await change((keys) =>
        keys.some(({ id }) => id === key.id)
          ? undefined
          : [...keys, key].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
      )
    },
    delete: async (id) => {
      await change((keys) => (keys.some((key) => key.id === id) ? keys.filter((key) => key.id !== id) : undefined))
    },
    replace: (changes) =>
      change((keys) => {
        const isCurrent = changes.every(({ id, from }) => keys.find((key) => key.id === id)?.material === from)
        if (!isCurrent) return undefined
        const materials = new Map(changes.map(({ id, to }) => [id, to]))
        return keys.map((key) => ({ ...key, material: materials.get(key.id) ?? key.material }))
      }),
  }
}
