/** A hub that starts before its database answers. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import { openTcpProxy } from '../cluster/tcp-proxy.ts'
import { masterKey, openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
describe('a hub that starts before its database', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()

  it('waits for it, and warns once', async (t) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'parley-hub-start-'))
    const proxy = await openTcpProxy(database.cluster)
    proxy.set('cut')
    const url = `postgres://postgres@127.0.0.1:${proxy.port}/${database.name}`
    const store = { url, direct: 'none', masterKey: masterKey.toString('base64') }
    const agents = { echo: { kind: 'demo', agent: 'echo' } }
    const tree = { listen: { port: 0, grpcPort: false }, admin: { key: 'the key of the admin' }, store, agents }
    const checked = checkConfig(tree, { kinds: agentKinds, baseDir: dataDir, dataDir })
    assert.ok('config' in checked, JSON.stringify(checked))
    const warnings: string[] = []
    const warn = (message: string): void => {
      if (!/^the database does not answer yet; trying again for 30 s$/.test(message)) return
      warnings.push(message)
      proxy.set('open')
    }
    const hub = await startHub(checked.config, { log: { debug() {}, info() {}, warn, error() {} } })
    t.after(async () => {
      await hub.close()
      await proxy.close()
      await rm(dataDir, { recursive: true })
    })
    assert.equal((await fetch(`${hub.url}/readyz`)).status, 200)
    assert.equal(warnings.length, 1)
  })
})
