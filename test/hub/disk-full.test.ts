/** `/readyz` is false while the disk is full, and true again when there is space. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'

const folder = await mkdtemp(join(tmpdir(), 'parley-small-disk-'))
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', folder]).status === 0
after(async () => {
  if (mounted) spawnSync('umount', [folder])
  await rm(folder, { recursive: true, force: true })
})
const skip = mounted ? false : 'a small disk cannot be mounted here'

describe('/readyz on a full disk', { skip }, () => {
  it('is false with a reason after a failed write, and true once there is space again', async (t) => {
    const logged: string[] = []
    const note = (message: string, fields?: { cause?: unknown }): void =>
      void logged.push(`${message} ${String(fields?.cause)}`)
    const server = await serve({
      port: 0,
      quiet: true,
      store: sqliteStore(join(folder, 'parley.db')),
      log: { debug() {}, info: note, warn: note, error: note },
      agent: ({ text }) => text,
    })
    t.after(() => server.close())
    const readyz = async (): Promise<string> => {
      const response = await fetch(`${server.url}/readyz`)
      return `${response.status} ${await response.text()}`
    }
    /** Its result is cached for half a second. */
    async function says(pattern: RegExp): Promise<void> {
      await eventually(async () => pattern.test(await readyz()), `${pattern}`)
    }
    const send = async (): Promise<number> => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'x'.repeat(100_000) }] }
      const response = await fetch(`${server.url}/message:send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({ message, configuration: { returnImmediately: true } }),
      })
      await response.text()
      return response.status
    }
    assert.equal(await send(), 200)
    assert.match(await readyz(), /^200 /)
    const filler = join(folder, 'filler')
    assert.throws(() => writeFileSync(filler, Buffer.alloc(32_000_000)), { code: 'ENOSPC' })
    // Some fit into allocated file space.
    let status = 200
    for (let count = 0; status === 200 && count < 1_000; count += 1) status = await send()
    assert.ok(status >= 500, String(status))
    await says(/^503 .*the store is not writable/)
    assert.ok(
      logged.some((line) => /not writable: not ready .*(full|disk I\/O)/.test(line)),
      logged.join('\n'),
    )
    rmSync(filler)
    await says(/^200 /)
    assert.equal(await send(), 200)
    assert.ok(logged.some((line) => line.includes('writable again')))
  })
})
