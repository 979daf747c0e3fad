/** A hub with one agent of the kind `a2a`, whose url is the argument, in the process that is measured. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { send, startCounting } from './touched-files.ts'

await startCounting()
const { agentKinds } = await import('../../packages/hub/src/agents/kinds.ts')
const { checkConfig } = await import('../../packages/hub/src/config/check-config.ts')
const { startHub } = await import('../../packages/hub/src/hub.ts')

const dataDir = mkdtempSync(join(tmpdir(), 'parley-path-length-'))
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))
const tree = {
  listen: { port: 0, grpcPort: false },
  store: 'memory:',
  agents: { remote: { kind: 'a2a', url: process.argv[2] } },
}
const checked = checkConfig(tree, { kinds: agentKinds, baseDir: dataDir, dataDir })
assert.ok('config' in checked, JSON.stringify(checked))
const hub = await startHub(checked.config, { log: { debug() {}, info() {}, warn() {}, error() {} } })
send({ url: `${hub.url}/a2a/remote` })
