/** A secret that is set at one replica of a hub reaches the others. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import { urlOf } from './cluster.ts'
import { masterKey, openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
describe('a secret of a hub with two replicas', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()

  it('is the same for both: a value set at one opens the agent at the other', async (t) => {
    const baseDir = await mkdtemp(join(tmpdir(), 'parley-hub-secrets-'))
    const model = createServer((request, response) => response.end(request.headers.authorization))
    model.listen(0, '127.0.0.1')
    await once(model, 'listening')
    const tree = {
      listen: { port: 0, grpcPort: false },
      admin: { key: 'the key of the admin' },
      store: { url: urlOf(database.cluster, database.name), direct: 'none', masterKey: masterKey.toString('base64') },
      agents: {
        gpt: {
          kind: 'openai',
          baseUrl: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`,
          model: 'm',
          apiKey: '${hub:gpt}',
        },
      },
    }
    const checked = checkConfig(tree, { kinds: agentKinds, baseDir })
    assert.ok('config' in checked, JSON.stringify(checked))
    const { config } = checked
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const [one, other] = await Promise.all([startHub(config, { log }), startHub(config, { log })])
    t.after(async () => {
      await Promise.all([one.close(), other.close()])
      model.close()
      await rm(baseDir, { recursive: true })
    })
    const missing = 'the secret ${hub:gpt} is not set: set it with `parley secret set gpt`'
    for (const hub of [one, other]) assert.equal(hub.agents()[0]?.startError?.message, missing)
    const set = await fetch(`${one.url}/admin/secrets/gpt`, {
      method: 'PUT',
      headers: { authorization: 'Bearer the key of the admin', 'content-type': 'application/json' },
      body: JSON.stringify({ value: 'sesame' }),
    })
    assert.equal(set.status, 200)
    assert.equal(one.agents()[0]?.state, 'open')
    // As the timer does every ten seconds.
    await other.reload(config)
    assert.equal(other.agents()[0]?.state, 'open')
  })
})
