/** `parley up`: the hub as a program. It starts, says where it is, follows its configuration, and goes when it is told to. */
import type { HubConfig } from '../config/config.ts'
import type { Loaded } from '../config/load.ts'
import { pathText } from '../config/path.ts'
import { watchFiles } from '../config/watch.ts'
import type { Hub } from '../hub.ts'
import type { Reloaded } from '../reloaded.ts'
import { describeStore } from '../open-store.ts'
import type { AgentStatus } from '../registry.ts'
import { createLog } from '../telemetry/logs.ts'
import type { HubLog } from '../telemetry/logs.ts'
import { createRedact, secretsIn } from '../telemetry/redact.ts'
import type { Command, Flags, Terminal } from './command.ts'
import { showAdminKey } from './first-admin-key.ts'
import { programEnvironment } from './program-environment.ts'
import { configFlags, configSource, listenFlags, problemLines, readConfig } from './settings.ts'

export const up: Command = {
  name: 'up',
  summary: 'Starts the hub. Without a configuration it serves the demo agents.',
  details: [
    '-c, --config <file>   Default: parley.yaml, parley.yml or parley.json in this folder.',
    '--host, --port, --grpc-port, --store, --data   Over what the configuration says.',
    '--insecure            Lets everybody in from anywhere if the configuration does not say who may call.',
    '--accept-loss         Starts even if the SQLite file has lost acknowledged writes. Default: refuses to start.',
  ],
  flags: { ...configFlags, ...listenFlags, insecure: { type: 'boolean' }, 'accept-loss': { type: 'boolean' } },
  async run(flags, terminal) {
    const loaded = await readConfig(flags, terminal)
    if ('problems' in loaded) {
      for (const line of problemLines(loaded.problems, loaded.file)) terminal.complain(line)
      return 1
    }
    const { config } = loaded
    const log = logTo(terminal, loaded)
    const { startHub } = await import('../hub.ts')
    const hub = await startHub(config, {
      log,
      insecure: flags.has('insecure'),
      acceptLoss: flags.has('accept-loss'),
      programEnv: programEnvironment(terminal.environment),
      source: await configSource(flags, terminal),
    })
    // Before anything is said: whoever reads that it runs may stop it at once.
    const toldToEnd = terminal.untilToldToEnd()
    const stop = follow(hub, flags, terminal)
    await introduce(hub, config, terminal)
    terminal.say(`Stop with Ctrl-C: what runs goes on ${goesOn(config.store.url)}.`)
    await toldToEnd
    stop()
    await hub.close()
    log.flush()
    return 0
  },
}

async function introduce(hub: Hub, { store, dataDir }: HubConfig, terminal: Terminal): Promise<void> {
  const { say, isTerminal } = terminal
  say(`Parley is listening on ${hub.url}`)
  if (hub.grpcPort !== undefined) say(`It speaks gRPC on port ${hub.grpcPort}`)
  say('')
  const agents = hub.agents()
  const width = Math.max(10, ...agents.map(({ name }) => name.length))
  for (const agent of agents) say(`  ${agent.name.padEnd(width)} ${hub.url}/a2a/${agent.name}  ${about(agent)}`)
  if (hub.madeAdminKey !== undefined) await showAdminKey(hub.madeAdminKey, dataDir, terminal)
  if (hub.console !== undefined) {
    // What stands behind # stays in the browser.
    const shown = isTerminal ? hub.madeAdminKey : undefined
    say(`\nSee it in a browser: ${hub.console}${shown === undefined ? '' : `#key=${encodeURIComponent(shown)}`}`)
  }
  say(`\nTasks are kept in ${describeStore({ store: store.url, dataDir })}.`)
}

function about({ state, startError, settings }: AgentStatus): string {
  if (state === 'unavailable') return `is not available: ${createRedact().text(startError?.message ?? '')}`
  return settings.description?.split('\n')[0] ?? ''
}

function goesOn(store: string): string {
  if (store === 'memory:') return 'no more'
  return store.startsWith('sqlite:') ? 'at the next start' : 'on another replica, or at the next start'
}

/** The configuration, and files that agents are made of; SIGHUP too. What is wrong changes nothing. */
function follow(hub: Hub, flags: Flags, terminal: Terminal): () => void {
  async function reload(): Promise<void> {
    try {
      const loaded = await readConfig(flags, terminal)
      if ('problems' in loaded) {
        terminal.complain('The configuration is not right, so everything stays as it is:')
        for (const line of problemLines(loaded.problems, loaded.file)) terminal.complain(line)
        return
      }
      for (const line of reloadLines(await hub.reload(loaded.config))) terminal.say(line)
      watch.follow(hub.files())
    } catch (reason) {
      terminal.complain(`The configuration could not be applied: ${String(reason)}`)
    }
  }

  const watch = watchFiles(reload)
  watch.follow(hub.files())
  terminal.onHangUp(() => void reload())
  return watch.close
}

function reloadLines({ added, changed, removed, applied, restart }: Reloaded): readonly string[] {
  const lines = [
    ['added', added],
    ['changed', changed],
    ['removed; what runs is finished', removed],
  ] as const
  const said = lines.filter(([, names]) => names.length > 0).map(([what, names]) => `${names.join(', ')}: ${what}`)
  if (applied.length > 0) said.push(`${applied.join(', ')}: changed`)
  if (restart.length > 0) said.push(`${restart.join(', ')}: changed, and holds after a restart`)
  return said.length === 0 ? ['The configuration was read again; nothing changed.'] : said
}

/** As the configuration wants it, and without its secrets. */
function logTo(
  { complain, isRead }: Terminal,
  { config, tree, references }: Extract<Loaded, { config: unknown }>,
): HubLog {
  const { level, format } = config.telemetry.logs
  return createLog({
    level,
    format: format === 'auto' ? (isRead ? 'text' : 'json') : format,
    secrets: secretsIn(tree, (path) => references.has(pathText(path))),
    write: complain,
  })
}
