/** `a2a conformance`: checks a live agent, and prints what it found. */
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { urlOfAddress } from '@parley/a2a/internal'
import { defaultVersion, usesEndpoint } from '../agent/call-settings.ts'
import { createProjectTrust } from '../agent/project-trust.ts'
import type { CommandContext } from '../command.ts'
import {
  allChecks,
  type BindingName,
  breaks,
  builtInProfiles,
  type CheckResult,
  type ConformanceOptions,
  type ConformanceReport,
  type FailOn,
  junitReport,
  markdownReport,
  parseProfile,
  type Profile,
  ProfileError,
  runConformance,
  textReport,
  valueFor,
  type VersionName,
  versionNameOf,
  versionNames,
  WireError,
} from '../conformance/index.ts'
import { CliError, usageError } from '../output/cli-error.ts'

export async function run(context: CommandContext): Promise<number> {
  const { args, settings, output, terminal } = context
  if (settings.has('list')) return listChecks(context)
  const [operand] = args.operands
  // An operand replaces what the environment or a file names.
  const isEndpoint = operand === undefined ? usesEndpoint(settings) : settings.sourceOf('endpoint').kind === 'flag'
  const option = isEndpoint ? 'endpoint' : 'agent-card'
  const url = addressOf(operand ?? settings.value(option))
  const checkProjectTrust = createProjectTrust(settings, operand === undefined ? [option] : [], url)
  for (const name of ['svc-param', 'client-cert', 'bearer', 'api-key']) checkProjectTrust(name)
  const failOn = (settings.value('fail-on') ?? 'must') as FailOn
  if (settings.has('insecure')) output.warn('TLS certificates are not verified.')
  const report = await check(url, { ...(await optionsOf(context, isEndpoint)), onResult: showProgress(context) })
  const write = async (option: string, content: () => string): Promise<void> => {
    const file = settings.value(option)
    if (file === undefined) return
    await writeFile(resolve(terminal.cwd, file), content()).catch((reason: unknown) => {
      throw usageError(
        `--${option}: cannot write ${file}: ${reason instanceof Error ? reason.message : String(reason)}`,
      )
    })
  }
  await write('junit', () => junitReport(report, failOn))
  await write('markdown', () => markdownReport(report))
  if (output.format === 'text') await output.text(textReport(report, { showsEvidence: output.isVerbose }))
  // With --stream the results are printed already: the last line has the rest.
  else if (output.isStream) await output.line({ ...report, results: undefined })
  else await output.document(report)
  return breaks(report, failOn) ? 1 : 0
}

async function check(url: string, options: ConformanceOptions): Promise<ConformanceReport> {
  try {
    return await runConformance(url, options)
  } catch (reason) {
    if (reason instanceof WireError) throw new CliError('A2ACLI_ERR_UNREACHABLE', reason.message, { cause: reason })
    throw reason
  }
}

/** Without a scheme: plain HTTP on loopback, otherwise HTTPS. */
function addressOf(given: string | undefined): string {
  if (given === undefined)
    throw usageError('`a2a conformance` needs the address of an agent.', 'Usage: a2a conformance <url>')
  const url = urlOfAddress(given)
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw usageError(`${given} is no HTTP address.`, 'Name an origin, or the URL of a card.')
  return url
}

async function optionsOf(
  { settings, terminal, signal }: CommandContext,
  isEndpoint: boolean,
): Promise<ConformanceOptions> {
  const text = (name: string): string | undefined => settings.value(name)
  const isGiven = (name: string): boolean => settings.sourceOf(name).kind !== 'default'
  const file = async (name: string): Promise<string | undefined> => {
    const path = text(name)
    return path === undefined ? undefined : readText(resolve(terminal.cwd, path), `--${name}`)
  }
  const [cert, key, ca] = [await file('client-cert'), await file('client-key'), await file('ca-cert')]
  const tls = {
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(ca === undefined ? {} : { ca }),
  }
  const [bearer, apiKey, receiverUrl] = [text('bearer'), text('api-key'), text('receiver-url')]
  const [maxMessages, receiverPort, checkTimeoutMs] = [
    settings.integer('max-messages', 0),
    settings.integer('receiver-port', 0, 65535),
    settings.durationMs('check-timeout'),
  ]
  const [only, skip, bindings] = [
    settings.values('only').map((given) => checkPatternOf('only', given)),
    settings.values('skip').map((given) => checkPatternOf('skip', given)),
    settings.values('binding').map(bindingOf),
  ]
  const profile = await profileOf(text('profile'), terminal.cwd)
  return {
    signal,
    readOnly: settings.has('read-only'),
    insecure: settings.has('insecure'),
    headers: serviceParameters(settings.values('svc-param')),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    ...(bearer === undefined ? {} : { bearer }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(receiverUrl === undefined ? {} : { receiverUrl }),
    ...(receiverPort === undefined ? {} : { receiverPort }),
    ...(maxMessages === undefined ? {} : { maxMessages }),
    ...(checkTimeoutMs === undefined ? {} : { checkTimeoutMs }),
    parallel: settings.integer('parallel', 1, 16) ?? 1,
    ...(only.length === 0 ? {} : { only }),
    ...(skip.length === 0 ? {} : { skip }),
    ...(bindings.length === 0 ? {} : { bindings }),
    ...(isGiven('a2a-version') ? { versions: [givenVersion(text('a2a-version') ?? '')] } : {}),
    ...(profile === undefined ? {} : { profile }),
    ...(isEndpoint ? { interfaces: [endpointOf(settings)] } : {}),
    secrets: settings
      .values('svc-param')
      .map((value) => value.slice(value.search(/[:=]/) + 1).trim())
      .filter((value) => value.length >= 8),
  }
}

/** `card`, `card.` and `card.*` are the same group. Throws if no check has the name: a run without checks must not pass. */
function checkPatternOf(option: string, given: string): string {
  const pattern = given.replace(/\.?\*?$/, '')
  if (allChecks.some(({ id }) => id === pattern || id.startsWith(`${pattern}.`))) return pattern
  throw usageError(`--${option}: there is no check "${given}".`, '`a2a conformance --list` prints the checks.')
}

const bindingOf = (given: string): BindingName =>
  ({ jsonrpc: 'JSONRPC', rest: 'HTTP+JSON', 'http+json': 'HTTP+JSON', grpc: 'GRPC' } as const)[given.toLowerCase()] ??
  'JSONRPC'

function givenVersion(given: string): VersionName {
  const version = versionNameOf(given)
  if (version === undefined)
    throw usageError(`There are no checks for version ${given}.`, `Versions: ${versionNames.join(', ')}.`)
  return version
}

function endpointOf(settings: CommandContext['settings']): {
  readonly url: string
  readonly version: VersionName
  readonly binding: BindingName
} {
  const [transport, ...others] = settings.values('transport')
  if (transport === undefined || others.length > 0) throw usageError('--endpoint needs exactly one --transport.')
  const version = givenVersion(settings.value('a2a-version') ?? defaultVersion)
  return { url: settings.value('endpoint') ?? '', version, binding: bindingOf(transport) }
}

function serviceParameters(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((parameter) => {
      const end = parameter.search(/[:=]/)
      if (end <= 0) throw usageError(`--svc-param ${parameter} has no value.`, 'Use <name>:<value>.')
      return [parameter.slice(0, end).trim().toLowerCase(), parameter.slice(end + 1).trim()]
    }),
  )
}

async function profileOf(given: string | undefined, cwd: string): Promise<Profile | undefined> {
  if (given === undefined) return undefined
  if (Object.hasOwn(builtInProfiles, given)) return builtInProfiles[given]
  const hint = `Built-in profiles: ${Object.keys(builtInProfiles).join(', ')}.`
  const text = await readText(resolve(cwd, given), '--profile', hint)
  try {
    return parseProfile(text, given)
  } catch (reason) {
    throw reason instanceof ProfileError ? usageError(reason.message, reason.hint) : reason
  }
}

async function readText(path: string, option: string, hint?: string): Promise<string> {
  return readFile(path, 'utf8').catch((reason: unknown) => {
    const why = reason instanceof Error ? reason.message : String(reason)
    throw usageError(`${option}: cannot read ${path}: ${why}`, hint)
  })
}

/** Each result with `-o json --stream`; on a terminal the interface that is checked now. */
function showProgress({ output, terminal }: CommandContext): (result: CheckResult) => void {
  let current = ''
  return (result) => {
    if (output.format === 'json' && output.isStream) void output.line(result)
    const now = `${result.version} ${result.binding ?? ''} ${result.url}`
    if (terminal.isErrorTerminal && now !== current) output.note(`Checking ${now.replaceAll(/ +/g, ' ')}`)
    current = now
  }
}

async function listChecks({ output }: CommandContext): Promise<number> {
  const rows = allChecks.map(({ id, title, level, section, versions, bindings, sends, rules }) => ({
    id,
    title,
    level,
    section,
    versions,
    bindings: bindings ?? [],
    sends,
    rules,
  }))
  if (output.format === 'json') await output.document({ checks: rows })
  else {
    const lines = allChecks.flatMap(({ id, title, level, section, versions }) => {
      const newest = versions[0] ?? versionNames[0]
      return [`${id} [${valueFor(level, newest) ?? 'info'}] ${title} (${valueFor(section, newest) ?? ''})`]
    })
    await output.text(lines.join('\n'))
  }
  return 0
}
