/** The hub as `parley` starts it: SQLite with every commit on disk, and traces, audit, limits and metrics on. */
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { loadConfig } from '../../packages/hub/src/config/load-config.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import { agentNames } from '../workload.ts'
import { announcementFeed, runContestant } from './child-process.ts'

const directory = process.argv[2] ?? '.'
const path = new URL('bench-agents.ts', import.meta.url).pathname
const agents = Object.fromEntries(agentNames.map((name) => [name, { kind: 'module', path, export: name }]))
const loaded = loadConfig({
  // One client sends more than the default limit of an address permits. The limit is still counted.
  fallback: { listen: { port: 0, grpcPort: false }, limits: { perAddress: '1000000/s' }, agents },
  environment: {},
  dataDir: directory,
  cwd: directory,
  kinds: agentKinds,
})
if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
const log = { debug() {}, info() {}, warn: console.error, error: console.error }
const hub = await startHub(loaded.config, { log })
runContestant({ port: hub.port, announce: announcementFeed.publish, close: () => hub.close() })
