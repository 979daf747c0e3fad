/** Runs the hub for `parley up`: starts it, prints its address, follows its configuration, and stops on a signal. */
import { writeCompletely } from '../audit/write-completely.ts'
import type { HubConfig } from '../config/hub-config.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { formatPath } from '../config/config-problem.ts'
import { watchFiles } from '../config/watch-files.ts'
import { startHub, type Hub } from '../hub.ts'
import type { ReloadResult } from '../config/diff-config.ts'
import { describeStore } from '../store/open-store.ts'
import type { AgentStatus } from '../registry/agent-registry.ts'
import { createLog, type HubLog } from '../telemetry/logs/hub-log.ts'
import { createLogBuffer, type LogBuffer } from '../telemetry/logs/log-buffer.ts'
import { createRedactor, collectSecrets } from '../telemetry/logs/redactor.ts'
import type { Flags, Terminal } from './command.ts'
import { showAdminKey } from './first-admin-key.ts'
import { programEnvironment } from './program-environment.ts'
import { openConfigSource, openSecretCache, problemLines, readConfig, readValidConfig } from './cli-settings.ts'
import type { SecretCache } from '../config/secrets/secret-cache.ts'

export async function runHub(flags: Flags, terminal: Terminal): Promise<number> {
  // A full disk or a closed pipe must not end the hub: the lines for people are lost, and `audit.export` retries its own.
  terminal.output.on('error', () => {})
  const secrets = openSecretCache(flags, terminal)
  const loaded = await readValidConfig(flags, terminal, secrets)
  const { config } = loaded
  const logBuffer = createLogBuffer()
  const log = logTo(terminal, loaded, logBuffer)
  for (const warning of loaded.warnings) log.warn(warning)
  const hub = await startHub(config, {
    log,
    logBuffer,
    insecure: flags.has('insecure'),
    acceptLoss: flags.has('accept-loss'),
    programEnv: programEnvironment(terminal.environment),
    print: (text) => writeCompletely(terminal.output, text),
    source: await openConfigSource(flags, terminal, secrets),
    secretProviders: secrets.status,
  })
  // Before any output: a reader that sees the hub running may stop it at once.
  const shutdown = terminal.untilShutdown()
  const stop = followConfig({ hub, flags, terminal, secrets, log }, loaded)
  await printStartup(hub, config, terminal)
  terminal.print(`Stop with Ctrl-C. ${stopText(config.store.url)}`)
  await shutdown
  stop()
  await hub.close()
  log.flush()
  return 0
}

async function printStartup(hub: Hub, { store, dataDir }: HubConfig, terminal: Terminal): Promise<void> {
  const { print, isOutputTerminal } = terminal
  print(`Parley is listening on ${hub.url}`)
  if (hub.grpcPort !== undefined) print(`gRPC on port ${hub.grpcPort}`)
  print('')
  const agents = hub.agents()
  const width = Math.max(10, ...agents.map(({ name }) => name.length))
  for (const agent of agents) print(`  ${agent.name.padEnd(width)} ${hub.url}/a2a/${agent.name}  ${agentLine(agent)}`)
  if (hub.newAdminKey !== undefined) await showAdminKey(hub.newAdminKey, dataDir, terminal)
  if (hub.console !== undefined) {
    // The fragment after # stays in the browser.
    const shown = isOutputTerminal ? hub.newAdminKey : undefined
    print(`\nSee it in a browser: ${hub.console}${shown === undefined ? '' : `#key=${encodeURIComponent(shown)}`}`)
  }
  print(`\nTasks are stored in ${describeStore({ store: store.url, dataDir })}.`)
}

function agentLine({ state, startError, settings }: AgentStatus): string {
  if (state === 'unavailable') return `is not available: ${createRedactor().text(startError?.message ?? '')}`
  return settings.description?.split('\n')[0] ?? ''
}

/** What happens to unfinished tasks. Whether one can continue is declared by its agent. */
function stopText(store: string): string {
  if (store === 'memory:') return 'All tasks are lost then: the store is in memory.'
  const when = store.startsWith('sqlite:') ? 'at the next start' : 'on another replica, or at the next start'
  return `Unfinished tasks continue ${when} if their agent can resume; the others fail.`
}

interface FollowedHub {
  readonly hub: Hub
  readonly flags: Flags
  readonly terminal: Terminal
  readonly secrets: SecretCache
  readonly log: HubLog
}

/** Watches the configuration, its secrets and the source files of agents, and SIGHUP. An invalid configuration changes nothing. */
function followConfig({ hub, flags, terminal, secrets, log }: FollowedHub, first: LoadedConfig): () => void {
  let reloading: Promise<void> = Promise.resolve()
  /** One after the other: files, secrets and signals may change together. */
  function reload(): Promise<void> {
    reloading = reloading.then(reloadNow)
    return reloading
  }

  function followSecrets({ providerSecrets }: LoadedConfig): void {
    secrets.follow(providerSecrets, {
      changed: () => void reload(),
      failed: ({ scheme, name }, problem) =>
        log.warn('a secret could not be read again: its last value stays in use', { provider: scheme, name, problem }),
    })
  }

  async function reloadNow(): Promise<void> {
    try {
      const loaded = await readConfig(flags, terminal, secrets)
      log.setSecrets(secretsOf(loaded))
      if ('problems' in loaded) {
        terminal.printError('The configuration is invalid and was not applied:')
        for (const line of problemLines(loaded.problems, loaded.file)) terminal.printError(line)
        return
      }
      for (const line of reloadLines(await hub.reload(loaded.config))) terminal.print(line)
      followSecrets(loaded)
      watch.watch([...hub.files(), ...loaded.secretFiles])
    } catch (reason) {
      terminal.printError(`The configuration could not be applied: ${String(reason)}`)
    }
  }

  const watch = watchFiles(reload)
  watch.watch([...hub.files(), ...first.secretFiles])
  followSecrets(first)
  terminal.onReload(() => void secrets.refresh().then(reload))
  return () => {
    watch.close()
    secrets.close()
  }
}

function reloadLines({ added, changed, removed, applied, restart }: ReloadResult): readonly string[] {
  const lines = [
    ['added', added],
    ['changed', changed],
    ['removed; running turns finish', removed],
  ] as const
  const said = lines.filter(([, names]) => names.length > 0).map(([what, names]) => `${names.join(', ')}: ${what}`)
  if (applied.length > 0) said.push(`${applied.join(', ')}: changed`)
  if (restart.length > 0) said.push(`${restart.join(', ')}: changed; restart to apply`)
  return said.length === 0 ? ['The configuration was reloaded; nothing changed.'] : said
}

/** In the configured format, with secrets redacted. */
function logTo(
  { printError, isErrorTerminal }: Terminal,
  loaded: Extract<LoadedConfig, { config: unknown }>,
  logBuffer: LogBuffer,
): HubLog {
  const { level, format } = loaded.config.telemetry.logs
  return createLog({
    level,
    format: format === 'auto' ? (isErrorTerminal ? 'text' : 'json') : format,
    secrets: secretsOf(loaded),
    write: printError,
    onLine: logBuffer.add,
  })
}

/** Also the values of references alone: a value may contain one within a longer text. */
function secretsOf({ tree, references, secretValues }: LoadedConfig): readonly string[] {
  return [...collectSecrets(tree, (path) => references.has(formatPath(path))), ...secretValues]
}
