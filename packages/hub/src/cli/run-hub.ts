/** Runs the hub for `parley up`: starts it, prints its address, follows its configuration, and stops on a signal. */
import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { writeCompletely } from '../audit/write-completely.ts'
import type { HubConfig } from '../config/hub-config.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { formatPath } from '../config/config-problem.ts'
import type { ConfigSource } from '../config/config-source.ts'
import { hubReferencesIn } from '../config/secrets/hub-references.ts'
import { hubVersion } from '../config/hub-version.ts'
import { watchFiles } from '../config/watch-files.ts'
import { startHub, type Hub } from '../hub.ts'
import type { ReloadResult } from '../config/diff-config.ts'
import { makeDataDirectoryPrivate } from '../store/data-directory.ts'
import { describeStore } from '../store/open-store.ts'
import type { AgentStatus } from '../registry/agent-registry.ts'
import { createLog, type HubLog } from '../telemetry/logs/hub-log.ts'
import { createLogBuffer, type LogBuffer } from '../telemetry/logs/log-buffer.ts'
import { collectSecrets } from '../telemetry/logs/redactor.ts'
import { CliError, type Flags, type Terminal } from './command.ts'
import { reusableAdminKey, showAdminKey, storeAdminKey } from './admin-key-file.ts'
import { commandText, dataFlags, storeNameFlags } from './command-text.ts'
import { listenUrl, recordedAddress, recordHubAddress } from './hub-address.ts'
import { programEnvironment } from './program-environment.ts'
import { requirePorts } from './port-check.ts'
import { openConfigSource, openSecretCache, problemLines, readValidConfig } from './cli-settings.ts'
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
  // The store prepares its own directory; another store may have none.
  if (config.store.url !== 'sqlite:' && existsSync(config.dataDir)) makeDataDirectoryPrivate(config.dataDir, log)
  const source = await openConfigSource(flags, terminal, secrets)
  // On a terminal, people see the banner and the changes without times: their lines are only for `parley logs`.
  const record = terminal.isOutputTerminal ? logTo({ ...terminal, printError() {} }, loaded, logBuffer) : log
  const report = (line: string): void => {
    if (terminal.isOutputTerminal) terminal.print(line)
    record.info(line)
  }
  // A refused first start leaves no data directory behind.
  if (!existsSync(config.dataDir)) await requirePorts(config.listen)
  const hub = await startHub(config, {
    log,
    logBuffer,
    insecure: flags.has('insecure'),
    acceptLoss: flags.has('accept-loss'),
    programEnv: programEnvironment(terminal.environment),
    print: (text) => writeCompletely(terminal.output, text),
    source,
    onReload(result) {
      for (const line of reloadLines(result)) report(line)
    },
    secretProviders: secrets.status,
    firstAdminKey: await reusableAdminKey(config.dataDir),
    onNewAdminKey: (key) => storeAdminKey(config.dataDir, key, terminal),
    onSecrets: log.setSecrets,
    redact: log.redact,
  }).catch(async (reason: Error) => {
    const address = reason.message.includes('is in use by another store') && (await recordedAddress(config.dataDir))
    if (typeof address !== 'string') throw reason
    throw new CliError(
      `A hub already runs here: ${address}. Open it with \`${commandText(flags, terminal, 'open', dataFlags)}\`, or choose another directory with --data.`,
    )
  })
  // Before any output: a reader that sees the hub running may stop it at once.
  const shutdown = terminal.untilShutdown()
  const forgetAddress = await recordHubAddress(config.dataDir, listenUrl({ ...config.listen, port: hub.port }))
  const stop = followConfig({ hub, source, terminal, secrets, log, report }, loaded)
  record.info('the hub started', { url: hub.url, version: hubVersion(), configuration: config.file ?? 'none' })
  // Not between the lines of the banner.
  log.flush()
  await printStartup(hub, config, flags, terminal, log)
  terminal.print(`${terminal.isOutputTerminal ? 'Stop with Ctrl-C. ' : ''}${stopText(config.store.url)}`)
  await shutdown
  stop()
  record.info('the hub stops')
  await hub.close()
  await forgetAddress()
  record.info('the hub stopped')
  log.flush()
  if (terminal.isOutputTerminal) terminal.print('Stopped.')
  return 0
}

async function printStartup(hub: Hub, config: HubConfig, flags: Flags, terminal: Terminal, log: HubLog): Promise<void> {
  const { print, isOutputTerminal } = terminal
  print(`Parley is listening on ${hub.url}`)
  if (hub.grpcPort !== undefined) print(`gRPC on port ${hub.grpcPort}`)
  print('')
  const agents = hub.agents()
  const width = Math.max(10, ...agents.map(({ name }) => name.length))
  const urlWidth = `${hub.url}/a2a/`.length + Math.max(0, ...agents.map(({ name }) => name.length))
  for (const agent of agents) {
    const url = `${hub.url}/a2a/${agent.name}`
    print(`  ${agent.name.padEnd(width)} ${url.padEnd(urlWidth)}  ${agentLine(agent, log)}`.trimEnd())
  }
  const rotateCommand = commandText(flags, terminal, 'key rotate admin', storeNameFlags)
  const signInPath = await showAdminKey(hub, config, terminal, rotateCommand)
  if (hub.console !== undefined) {
    // Other people can read a log.
    const path = isOutputTerminal ? signInPath : undefined
    print('')
    print(`See it in a browser: ${hub.console}${path?.slice(1) ?? ''}`)
    const openCommand = commandText(flags, terminal, 'open', dataFlags)
    if (path !== undefined) print(`The link signs you in once, within a minute. Later: \`${openCommand}\``)
    else if (signInPath !== undefined) print(`\`${openCommand}\` opens it signed in.`)
  }
  const { store, dataDir } = config
  print('')
  print(`Tasks are stored in ${describeStore({ store: store.url, dataDir })}.`)
}

function agentLine({ state, startError, settings }: AgentStatus, log: HubLog): string {
  if (state === 'unavailable') return `is not available: ${log.redact(startError?.message ?? '')}`
  return settings.description?.split('\n')[0] ?? ''
}

/** What happens to unfinished tasks. Whether one can continue is declared by its agent. */
function stopText(store: string): string {
  if (store === 'memory:') return 'All tasks are lost when the hub stops: the store is in memory.'
  const when = store.startsWith('sqlite:') ? 'at the next start' : 'on another replica, or at the next start'
  return `Unfinished tasks continue ${when} if their agent can resume; the others fail.`
}

interface FollowedHub {
  readonly hub: Hub
  readonly source: ConfigSource
  readonly terminal: Terminal
  readonly secrets: SecretCache
  readonly log: HubLog
  /** For people: on a terminal, and in the log. */
  report(line: string): void
}

/**
 * Watches the configuration, its secrets and the source files of agents, and SIGHUP. An invalid configuration changes nothing. Nor
 * does a removed one: it may be moved only for a moment, and the demo agents need no credentials, which would open a hub that had
 * restricted access.
 */
function followConfig({ hub, source, terminal, secrets, log, report }: FollowedHub, first: LoadedConfig): () => void {
  let hasFile = false
  let isInvalid = false
  let fileWarning: string | undefined
  let warnings: ReadonlySet<string> = new Set(first.warnings)
  let reloading: Promise<void> = Promise.resolve()
  /** One after the other: files, secrets and signals may change together. */
  function reload(cause: 'file' | 'request'): Promise<void> {
    reloading = reloading.then(() => reloadNow(cause))
    return reloading
  }

  function followSecrets({ providerSecrets }: LoadedConfig): void {
    secrets.follow(providerSecrets, {
      changed: () => void reload('file'),
      failed: ({ scheme, name }, problem) =>
        log.warn('a secret could not be read again: its last value stays in use', { provider: scheme, name, problem }),
    })
  }

  async function reloadNow(cause: 'file' | 'request'): Promise<void> {
    try {
      const text = source.read()
      const isLoaded = text === source.loadedText && !isInvalid
      const loaded = await source.load(text)
      reportFiles()
      log.setSecrets(secretsOf(loaded))
      isInvalid = 'problems' in loaded
      if ('problems' in loaded) {
        const lines = problemLines(loaded.problems, source.file)
        source.reject(lines[0] ?? '')
        for (const line of lines) log.error(`The configuration is invalid and was not applied: ${line}`)
        return
      }
      for (const warning of loaded.warnings) if (!warnings.has(warning)) log.warn(warning)
      warnings = new Set(loaded.warnings)
      const result = await hub.reload(loaded.config)
      // A file that the admin API has written is already in use.
      if (reloadLines(result).length === 0 && !(cause === 'file' && isLoaded))
        report('The configuration was reloaded; nothing changed.')
      followSecrets(loaded)
      watch.watch([...source.places, ...hub.files(), ...loaded.secretFiles])
    } catch (reason) {
      isInvalid = true
      const { message } = reason as Error
      source.reject(message)
      log.error(`The configuration could not be applied: ${message}`)
    }
  }

  /** Each change once: the file was removed, or another default name exists beside it. */
  function reportFiles(): void {
    const { file } = source
    const existing = source.places.filter((place) => existsSync(place))
    const warning =
      existing.length === 0 && hasFile
        ? `${file} was removed: its last configuration stays in use. Create it again, or restart the hub to use the demo agents.`
        : existing.length > 1
          ? `${file} is used; ${existing.slice(1).join(' and ')} is ignored`
          : undefined
    if (warning !== undefined && warning !== fileWarning) log.warn(warning)
    fileWarning = warning
    hasFile ||= existing.length > 0
  }

  /** A change during the start is older than the watch. Loading also lets the source keep the text that the hub runs. */
  async function reloadIfChangedDuringStart(): Promise<void> {
    const { tree } = await source.load(source.read())
    if (!isDeepStrictEqual(tree, first.tree)) await reload('file')
  }

  reportFiles()
  const watch = watchFiles(() => reload('file'))
  watch.watch([...source.places, ...hub.files(), ...first.secretFiles])
  followSecrets(first)
  reloadIfChangedDuringStart().catch(() => {})
  terminal.onReload(() => void secrets.refresh().then(() => reload('request')))
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
  return said
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
  const found = [...collectSecrets(tree, (path) => references.has(formatPath(path))), ...secretValues]
  // Messages name the secrets that the hub keeps.
  return found.filter((value) => hubReferencesIn(value).length === 0)
}
