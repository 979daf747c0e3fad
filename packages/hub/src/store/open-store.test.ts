/** Each kind of store by its name, and an error message for each mistake. test/cluster covers the connection to Postgres. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { ConfigError } from '@parley/a2a/server'
import { describeStore, firstReadError, openStore } from './open-store.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'parley-store-'))
after(() => rmSync(dataDir, { recursive: true }))
const masterKey = Buffer.alloc(32, 7).toString('base64')

describe('the setting `store`', () => {
  it('opens SQLite in the data folder or in a file of its own, and memory', async () => {
    const file = join(dataDir, 'mine.db')
    for (const store of ['sqlite:', `sqlite:${file}`, 'memory:']) {
      const opened = await openStore({ store, dataDir })
      assert.deepEqual(await opened.keys.list(), [])
      await opened.close()
    }
    assert.ok(existsSync(join(dataDir, 'parley.db')))
    assert.ok(existsSync(file))
  })

  it('names a directory that cannot be used, and the flag that chooses another', async () => {
    const inTheWay = join(dataDir, 'in-the-way')
    writeFileSync(inTheWay, '')
    await assert.rejects(openStore({ store: 'sqlite:', dataDir: inTheWay }), {
      name: 'ConfigError',
      message: `store: ${inTheWay} is a file, not a directory: choose another directory with --data.`,
    })
    const opened = await openStore({ store: 'sqlite:', dataDir })
    await assert.rejects(openStore({ store: 'sqlite:', dataDir }), /in use .* choose another directory with --data\.$/)
    await opened.close()
  })

  it('needs a master key of 32 bytes with Postgres, and says how to make one', async () => {
    const store = 'postgres://user@127.0.0.1:1/none'
    await assert.rejects(openStore({ store, dataDir }), /masterKey: .*openssl rand -base64 32/)
    await assert.rejects(openStore({ store, dataDir, masterKey: 'c2hvcnQ=' }), /masterKey: has 5 bytes/)
  })

  it('shares leases on Postgres, whether its server is named apart or not', async () => {
    for (const directStore of [undefined, 'none']) {
      const store = await openStore({ store: 'postgresql://user@127.0.0.1:1/none', dataDir, masterKey, directStore })
      assert.equal(store.leaseTtlMs, 10_000)
      await store.close()
    }
  })

  it('names what there is when it is none of them', async () => {
    await assert.rejects(openStore({ store: 'mysql://x', dataDir }), /store: must be sqlite:.*memory:.*postgres:/)
    const store = 'postgres://user@127.0.0.1:1/none'
    await assert.rejects(openStore({ store, dataDir, masterKey, directStore: 'there' }), /store\.direct: /)
  })

  it('reports a database that does not answer with its address and what to check, without the password', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
    const settings = { store: 'postgres://me:secret@127.0.0.1:1/parley', dataDir }
    const error = firstReadError(refused, settings)
    assert.ok(error instanceof ConfigError)
    assert.match(
      error.message,
      /^store: cannot use PostgreSQL at 127\.0\.0\.1:1\/parley: connect ECONNREFUSED .*Check that/,
    )
    assert.ok(!error.message.includes('secret'))
    assert.equal(firstReadError(error, settings), error, 'an error that names its setting stays')
    assert.equal(firstReadError(refused, { store: 'sqlite:', dataDir }), refused)
  })

  it('is described without its password', () => {
    const said = describeStore({ store: 'postgres://me:secret@db.example:5433/parley', dataDir })
    assert.equal(said, 'PostgreSQL at db.example:5433/parley')
    assert.equal(describeStore({ store: 'sqlite:', dataDir }), dataDir)
  })
})
