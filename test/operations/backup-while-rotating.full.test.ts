/** A backup while the master key is rotated, or after a rotation was killed: it names, or has, the key that wraps its keys. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createHandler } from '@parley/a2a/server'
import { existingMasterKeys, masterKeyFile, sqliteStore } from '@parley/a2a/stores/sqlite'
import { sqliteReader } from '@parley/a2a/stores/dump'
import { openWithMasterKey } from '../../packages/hub/src/cli/store/wrapping-master-key.ts'
import type { RotateMasterSettings } from './rotate-master-program.ts'
import { runParley, startParley } from './run-parley.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-rotating-'))
after(() => rmSync(folder, { recursive: true }))
let places = 0
function place(): string {
  const data = join(folder, `place-${(places += 1)}`)
  mkdirSync(data)
  return data
}

/** Opens the store as a hub does: rejects if the master key does not unwrap its keys. */
async function openAsHub(data: string, isRotated = false): Promise<void> {
  const store = sqliteStore(join(data, 'parley.db'))
  const handler = createHandler({ name: 'opened', agent: ({ text }) => text, store })
  try {
    await handler.ready
    if (isRotated) await handler.rotateMasterKey()
  } finally {
    await handler.close()
  }
}

function rotateAndKill(data: string): void {
  const program = join(import.meta.dirname, 'rotate-master-program.ts')
  const settings: RotateMasterSettings = {
    file: join(data, 'parley.db'),
    kill: { when: 'after', step: 'replace' },
  }
  const { signal } = spawnSync(process.execPath, ['--conditions=parley-source', program, JSON.stringify(settings)])
  assert.equal(signal, 'SIGKILL')
}

describe('a backup while the master key is rotated', () => {
  it('has the next key if a killed rotation has wrapped the keys by it', async () => {
    const data = place()
    await openAsHub(data)
    rotateAndKill(data)
    assert.ok(existsSync(join(data, 'parley.db.key.next')))
    await runParley('verify', '--data', data)
    const [file, to] = [join(folder, 'killed'), place()]
    await runParley('backup', '--data', data, '--keyring', 'full', file)
    await runParley('restore', '--data', to, file)
    await openAsHub(to)
  })

  for (const order of ['before', 'after'] as const) {
    it(`has the right key if the rotation happens just ${order} the moment of the backup`, async () => {
      const data = place()
      const file = join(data, 'parley.db')
      await openAsHub(data)
      const { reader, masterKey, foreignKeys } = await openWithMasterKey({
        masterKeys: () => existingMasterKeys(file),
        async reader() {
          if (order === 'before') await openAsHub(data, true)
          const opened = await sqliteReader(file)
          if (order === 'after') await openAsHub(data, true)
          return opened
        },
      })
      await reader.close()
      assert.equal(foreignKeys, 0)
      const [current] = existingMasterKeys(file)
      assert.equal(Buffer.from(masterKey ?? []).equals(current ?? Buffer.alloc(0)), order === 'before')
    })
  }
})

it('a backup with a wrong master key is restored with the right one, and never contains the wrong one', async () => {
  const [data, to] = [place(), place()]
  await openAsHub(data)
  renameSync(join(data, 'parley.db.key'), join(to, 'parley.db.key'))
  masterKeyFile(join(data, 'parley.db'))
  const { stdout } = await startParley('verify', '--data', data).result
  assert.match(stdout, /^key .*[^.]\.$/m)
  const file = join(folder, 'wrong')
  const { code, stderr } = await startParley('backup', '--data', data, '--keyring', 'full', file).result
  assert.equal(code, 1)
  assert.match(stderr, /not the one that wraps the keys/)
  assert.equal(existsSync(file), false)
  assert.match((await runParley('backup', '--data', data, file)).stderr, /does not unwrap \d+ of the keys/)
  await runParley('restore', '--data', to, file)
  await openAsHub(to)
})
