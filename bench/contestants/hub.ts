/** The hub as `parley` starts it: SQLite with every commit on disk, and traces, audit, limits and metrics on. */
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { loadConfig } from '../../packages/hub/src/config/load-config.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import { agentNames, pathOf } from '../workload.ts'
import { announcementFeed, readSettings, runContestant } from './child-process.ts'

const { directory, settings } = readSettings()
const { store, grpc, push, upstream } = settings
const path = new URL('bench-agents.ts', import.meta.url).pathname
const entries = agentNames
  .filter((name) => !grpc || name === 'stream')
  .map((name) => {
    if (upstream !== undefined)
      return [name, { kind: 'a2a', url: upstream + pathOf(name), allowPrivate: true }] as const
    return [name, { kind: 'module', path, export: name }] as const
  })
const loaded = loadConfig({
  fallback: {
    listen: { port: 0, grpcPort: grpc ? 0 : false },
    ...(store === 'memory' && { store: 'memory:' }),
    ...(push && { push: { allow: ['127.0.0.1'] } }),
    // One client sends more than the default limit of an address permits. The limit is still counted.
    limits: { streamsPerCaller: 20_000, perAddress: '1000000/s' },
    agents: Object.fromEntries(entries) as Record<string, object>,
  },
  environment: {},
  dataDir: directory,
  cwd: directory,
  kinds: agentKinds,
})
if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
const log = { debug() {}, info() {}, warn: console.error, error: console.error }
const hub = await startHub(loaded.config, { log })
runContestant({
  port: hub.port,
  grpcPort: hub.grpcPort,
  announce: announcementFeed.publish,
  close: () => hub.close(),
})
