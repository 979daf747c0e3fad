/** A hub with one agent, whose entry is the first argument as JSON and whose store the second, in the process that is measured. */
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
const [, , entry = '', store] = process.argv
const tree = { listen: { port: 0, grpcPort: false }, store, agents: { measured: JSON.parse(entry) as unknown } }
const checked = checkConfig(tree, { kinds: agentKinds, baseDir: import.meta.dirname, dataDir })
assert.ok('config' in checked, JSON.stringify(checked))
const hub = await startHub(checked.config, { log: { debug() {}, info() {}, warn() {}, error() {} } })
send({ url: `${hub.url}/a2a/measured` })
