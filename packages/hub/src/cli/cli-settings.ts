/** Settings from the environment and from flags that override the configuration file. Flags win. */
import { omitUndefined } from '@parley/a2a/internal'
import type { AgentKind } from '../agents/kind.ts'
import { statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, resolve } from 'node:path'
import { configBaseDir, defaultDataDir, validSections } from '../config/check-config.ts'
import { findConfig } from '../config/load-config.ts'
import { loadWithSecrets, unreadSecrets, type SecretReader } from '../config/secrets/load-with-secrets.ts'
import { createSecretCache, type SecretCache } from '../config/secrets/secret-cache.ts'
import { mountedSecretFolders } from '../config/secrets/secret-files.ts'
import { programEnvironment } from './program-environment.ts'
import type { LoadedConfig, LoadConfigOptions, ConfigOverrides } from '../config/load-config.ts'
import { formatPath, type ConfigProblem } from '../config/config-problem.ts'
import type { ConfigSections } from '../config/hub-config.ts'
import { fileSource, type ConfigSource } from '../config/config-source.ts'
import { demoConfig } from '../demo/index.ts'
import { attempt } from '../json/attempt.ts'
import { CliError, usageError, type Flags, type Terminal } from './command.ts'

/** `-c`, then `PARLEY_CONFIG`, then the file in this folder; `undefined` if there is none. */
export function configFile(flags: Flags, terminal: Terminal): string | undefined {
  return namedConfigFile(flags, terminal) ?? findConfig(terminal.cwd)
}

function namedConfigFile(flags: Flags, { environment }: Terminal): string | undefined {
  return flags.value('config') ?? (environment['PARLEY_CONFIG'] || undefined)
}

/** Agent kinds import large libraries: only the commands that need them load them, so that the others start fast. */
export async function loadKinds(): Promise<readonly AgentKind[]> {
  return (await import('../agents/kinds.ts')).agentKinds
}

export type CliConfig = LoadedConfig & { readonly file: string | undefined }

export async function readConfig(
  flags: Flags,
  terminal: Terminal,
  secrets: SecretReader = secretReader(flags, terminal),
): Promise<CliConfig> {
  const options = await loadOptions(flags, terminal)
  return { ...(await loadWithSecrets(options, secrets)), file: options.file }
}

/** For the hub, which keeps the secrets of providers between reads. */
export function openSecretCache(flags: Flags, terminal: Terminal, quotesStderr = true): SecretCache {
  const { environment, cwd } = terminal
  const file = configFile(flags, terminal)
  const baseDir = file === undefined ? cwd : configBaseDir(resolve(cwd, file))
  return createSecretCache({ baseDir, env: programEnvironment(environment), quotesStderr })
}

/**
 * For all other commands: a folder that was cloned or unpacked must not run a program because a person looks at it. What such a
 * program writes is not shown.
 */
export function secretReader(flags: Flags, terminal: Terminal): SecretReader {
  const mayRun = flags.has('run-secrets') || terminal.environment['PARLEY_RUN_SECRETS'] === '1'
  return mayRun ? openSecretCache(flags, terminal, false) : unreadSecrets
}

/** Throws CliError if the setting at this path has a secret that was not read. */
export function requireRead({ unread, file }: Pick<CliConfig, 'unread' | 'file'>, ...path: readonly string[]): void {
  const found = unread.find((one) => path.every((step, index) => one.path.length <= index || one.path[index] === step))
  if (found === undefined) return
  const [line] = problemLines([found], file)
  throw new CliError(`${line}: add --run-secrets to start the program or module of the configuration that provides it.`)
}

/** Whether the configuration is invalid only because secrets were not read: the text in place of one does not fit its setting. */
export function lacksOnlySecrets({ unread, ...loaded }: LoadedConfig): boolean {
  return 'problems' in loaded && loaded.problems.every((problem) => unread.includes(problem))
}

/** The sections, with texts in place of secrets that were not read. Throws CliError if the configuration is invalid. */
export function knownSections(loaded: CliConfig): Partial<ConfigSections> {
  if ('config' in loaded) return loaded.config
  if (!lacksOnlySecrets(loaded)) throw invalidConfigError(loaded)
  return validSections(loaded.tree)
}

/**
 * The section, of which the command uses `setting`; all of it by default. Throws CliError if the configuration is invalid, or if a secret
 * there was not read.
 */
export function sectionOf<Name extends keyof ConfigSections>(
  loaded: CliConfig,
  name: Name,
  ...setting: readonly string[]
): ConfigSections[Name] {
  requireRead(loaded, name, ...setting)
  const section = knownSections(loaded)[name]
  // Optional, or what stands for another secret does not fit it.
  if (section === undefined) requireRead(loaded, name)
  return section as ConfigSections[Name]
}

function invalidConfigError({ problems, file }: Extract<CliConfig, { problems: unknown }>): CliError {
  return new CliError(problemLines(problems, file).join('\n'))
}

/** Folders whose files `${file:…}` may name: those of containers and of systemd, and those that the operator adds. */
export function secretRoots(environment: Terminal['environment']): readonly string[] {
  const { CREDENTIALS_DIRECTORY: credentials, PARLEY_SECRET_ROOTS: more = '' } = environment
  return [...mountedSecretFolders, ...(credentials ? [credentials] : []), ...more.split(delimiter)].filter(isAbsolute)
}

/** Throws CliError with all problems, one per line. */
export async function readValidConfig(
  flags: Flags,
  terminal: Terminal,
  secrets: SecretReader,
): Promise<Exclude<CliConfig, { problems: unknown }>> {
  const loaded = await readConfig(flags, terminal, secrets)
  if ('problems' in loaded) throw invalidConfigError(loaded)
  return loaded
}

/** Also of a configuration that is invalid: no setting of the file names it. */
export function resolvedDataDirectory(flags: Flags, terminal: Terminal): string {
  const { cwd } = terminal
  const directory = dataDirectory(flags, terminal)
  const file = configFile(flags, terminal)
  return directory === undefined
    ? resolve(file === undefined ? cwd : configBaseDir(resolve(cwd, file)), defaultDataDir)
    : resolve(cwd, directory)
}

/** The configuration source, for changes while the hub runs. Without a named file it is the one that exists at the time. */
export async function openConfigSource(flags: Flags, terminal: Terminal, secrets: SecretReader): Promise<ConfigSource> {
  return fileSource({ ...(await loadOptions(flags, terminal)), file: namedConfigFile(flags, terminal) }, secrets)
}

async function loadOptions(flags: Flags, terminal: Terminal): Promise<LoadConfigOptions> {
  const { environment, cwd } = terminal
  const file = configFile(flags, terminal)
  const dataDir = dataDirectory(flags, terminal)
  const overrides = overridesOf(flags, environment)
  const kinds = await loadKinds()
  const roots = secretRoots(environment)
  return { file, fallback: demoConfig, environment, overrides, dataDir, cwd, kinds, secretRoots: roots }
}

/** As `admin.key` has it. */
const minAdminKeyLength = 16

/** `--data`, then `PARLEY_DATA`. Throws CliError for what cannot be a directory. */
export function dataDirectory(flags: Flags, { environment, cwd }: Terminal): string | undefined {
  const directory = flags.value('data') ?? (environment['PARLEY_DATA'] || undefined)
  if (directory === '') throw usageError('--data must name a directory.')
  const name = flags.value('data') === undefined ? 'PARLEY_DATA' : '--data'
  for (let path = resolve(cwd, directory ?? '.'); path !== dirname(path); path = dirname(path)) {
    const isDirectory = attempt(() => statSync(path).isDirectory())
    if (isDirectory === true) break
    if (isDirectory === false)
      throw usageError(`${name}: ${path} is a file, not a directory: choose another directory.`)
  }
  return directory
}

export function overridesOf(flags: Flags, environment: Terminal['environment']): ConfigOverrides {
  const setting = (flag: string, name: string): { text: string; name: string } | undefined => {
    const flagged = flags.value(flag)
    if (flagged !== undefined) return { text: flagged, name: `--${flag}` }
    const found = environment[name]
    // An empty variable counts as unset, as in composed environments; but an empty gRPC port disables gRPC.
    const isSet = found !== undefined && (found !== '' || name === 'GRPC_PORT')
    return isSet ? { text: found, name } : undefined
  }
  const listOf = (name: string): readonly string[] | undefined => {
    const keys = (environment[name] ?? '').split(/[\s,]+/).filter((key) => key !== '')
    return keys.length === 0 ? undefined : keys
  }
  const host = setting('host', 'BIND_HOST')?.text
  const port = portOf(setting('port', 'PORT'))
  const grpc = setting('grpc-port', 'GRPC_PORT')
  // An empty value disables gRPC.
  const grpcPort: number | false | undefined = grpc?.text === '' ? false : portOf(grpc)
  const url = setting('store', 'PARLEY_STORE')?.text
  const { PARLEY_STORE_DIRECT: direct, PARLEY_MASTER_KEY: masterKey, PARLEY_ADMIN_KEY: key } = environment
  if (key !== undefined && key.length < minAdminKeyLength)
    throw usageError(
      `PARLEY_ADMIN_KEY is shorter than ${minAdminKeyLength} characters: set the whole key, or unset it.`,
    )
  return {
    listen: omitUndefined({ host, port, grpcPort }),
    store: omitUndefined({ url, direct, masterKey, previousMasterKeys: listOf('PARLEY_PREVIOUS_MASTER_KEYS') }),
    admin: omitUndefined({ key, previousKeys: listOf('PARLEY_PREVIOUS_ADMIN_KEYS') }),
  }
}

function portOf(setting: { readonly text: string; readonly name: string } | undefined): number | undefined {
  if (setting === undefined) return undefined
  const port = Number(setting.text)
  if (setting.text.trim() !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw usageError(`${setting.name} must be a number from 0 to 65535, not ${JSON.stringify(setting.text)}.`)
}

/** The variables of the environment without which this configuration is invalid; none if it has other problems. */
export function lackedVariables(
  { problems, references }: Extract<LoadedConfig, { problems: unknown }>,
  { environment }: Pick<Terminal, 'environment'>,
): readonly string[] {
  const perProblem = problems.map(({ path }) =>
    [...(references.get(formatPath(path)) ?? '').matchAll(/\$\{env:([^}]+)\}/g)].flatMap(([, name = '']) =>
      environment[name] === undefined ? [name] : [],
    ),
  )
  return perProblem.every((names) => names.length > 0) ? [...new Set(perProblem.flat())] : []
}

/** `parley.yaml:12  agents.gpt.baseUrl: is missing: must be a string` */
export function problemLines(problems: readonly ConfigProblem[], file: string | undefined): readonly string[] {
  return problems.map(({ path, line, message }) => {
    const place = [file, line].filter((one) => one !== undefined).join(':')
    const about = path.length === 0 ? message : `${formatPath(path)}: ${message}`
    return place === '' ? about : `${place}  ${about}`
  })
}
