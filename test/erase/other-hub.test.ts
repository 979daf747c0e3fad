/** `parley erase` and `parley prune` on a store that a hub has open ask that hub, and never another one at the default address. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { runCli } from '../../packages/hub/src/cli/run.ts'
import { createTestTerminal } from '../../packages/hub/src/cli/testing/test-terminal.ts'
import { adminKey, openTestHub } from '../admin/test-hub.ts'

describe('a store that is open', () => {
  it('is not pruned or erased through the hub of another store', async (t) => {
    const hub = await openTestHub({ config: { store: { url: 'sqlite:' } } })
    const { id } = await hub.send('talker', 'kept')
    const folder = mkdtempSync(join(tmpdir(), 'parley-other-'))
    const store = sqliteStore(join(folder, 'parley.db'))
    t.after(async () => {
      await store.close()
      rmSync(folder, { recursive: true })
    })
    for (const command of [['erase', '--caller', 'anonymous', '--yes'], ['prune']]) {
      const terminal = createTestTerminal({ environment: { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: adminKey } })
      assert.equal(await runCli([...command, '--data', folder], terminal), 1)
      assert.match(terminal.errors.join('\n'), /uses another store .*: name the hub with --url\.$/)
    }
    assert.equal((await hub.ask('GET', `/admin/tasks/${id}`)).status, 200)
    assert.deepEqual((await hub.ask('GET', '/admin/erasures')).json.erasures, [])
  })

  it('is pruned by its own hub', async () => {
    const hub = await openTestHub({ config: { store: { url: 'sqlite:' } } })
    const { json } = await hub.ask('GET', '/admin/health')
    const terminal = createTestTerminal({ environment: { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: adminKey } })
    assert.equal(await runCli(['prune', '--dry-run', '--data', json.store.name], terminal), 0, terminal.errors.join())
  })
})
