/** A process is killed before and after each step of a rotation of the master key: the store opens, and nothing sealed is lost. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import type { FullStore } from '@parley/a2a/stores'
import { verifyMasterKey } from '@parley/a2a/internal'
import { createHandler } from '@parley/a2a/server'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { urlOf } from '../postgres/cluster.ts'
import { openDatabase, skipReason } from '../postgres/databases.ts'
import type { RotateMasterSettings } from './rotate-master-program.ts'

const program = join(import.meta.dirname, 'rotate-master-program.ts')
const secrets = Array.from({ length: 5 }, (_, n) => `secret ${n}`)

async function run(settings: RotateMasterSettings): Promise<{ readonly signal: string | null; readonly said: string }> {
  const child = spawn(process.execPath, ['--conditions=parley-source', program, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said, [, signal]] = await Promise.all([
    text(child.stdout),
    once(child, 'exit') as Promise<[unknown, string | null]>,
  ])
  return { signal, said }
}

/** Seals with several keys, and returns what unseals it in a store that was opened again. */
async function seal(store: FullStore): Promise<(reopened: FullStore) => Promise<void>> {
  await verifyMasterKey(store)
  const { secrets: sealer, close, ready } = createHandler({ name: 'before', agent: ({ text: said }) => said, store })
  await ready
  const sealed = await Promise.all(secrets.map((secret, n) => sealer.seal(`purpose-${n}`, secret, 'about')))
  await close()
  return async (reopened) => {
    await verifyMasterKey(reopened)
    const again = createHandler({ name: 'after', agent: ({ text: said }) => said, store: reopened })
    await again.ready
    const found = await Promise.all(sealed.map((one, n) => again.secrets.unseal(`purpose-${n}`, one, 'about')))
    await again.close()
    assert.deepEqual(found, secrets)
  }
}

describe('SQLite: a rotation of the master key that is killed', { timeout: 600_000 }, () => {
  for (const step of ['createMasterKey', 'replace', 'adoptMasterKey'] as const) {
    for (const when of ['before', 'after'] as const) {
      it(`${when} ${step} leaves a store that opens, and the next one completes it`, async (t) => {
        const folder = await mkdtemp(join(tmpdir(), 'parley-rotate-'))
        t.after(() => rm(folder, { recursive: true }))
        const file = join(folder, 'tasks.db')
        const unsealAll = await seal(sqliteStore(file))
        assert.equal((await run({ file, kill: { when, step } })).signal, 'SIGKILL')
        await unsealAll(sqliteStore(file))
        assert.ok(!existsSync(`${file}.key.next`), 'the start has ended the interrupted rotation')
        assert.match((await run({ file })).said, /^rotated [6-9]$/m)
        await unsealAll(sqliteStore(file))
      })
    }
  }
})

const skip = await skipReason()
describe('PostgreSQL: a rotation of the master key that is killed', { skip, timeout: 600_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const url = urlOf(database.cluster, database.name)
  for (const when of ['before', 'after'] as const) {
    it(`${when} the keys are replaced leaves a store that opens with both keys, and the next one completes it`, async () => {
      await database.query('DELETE FROM parley.keys')
      const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
      const unsealAll = await seal(database.open({ masterKey: oldKey }))
      const masters = { masterKey: newKey.toString('base64'), previousMasterKeys: [oldKey.toString('base64')] }
      assert.equal((await run({ database: url, ...masters, kill: { when, step: 'replace' } })).signal, 'SIGKILL')
      await unsealAll(database.open({ masterKey: newKey, previousMasterKeys: [oldKey] }))
      assert.match(
        (await run({ database: url, ...masters })).said,
        when === 'after' ? /^rotated 0$/m : /^rotated [6-9]$/m,
      )
      await unsealAll(database.open({ masterKey: newKey }))
      await assert.rejects(verifyMasterKey(database.open({ masterKey: oldKey })), /different master key/)
    })
  }
})
