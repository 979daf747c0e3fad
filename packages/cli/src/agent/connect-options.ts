/** From the settings of a run to the options of the client: which agent, and how it is called. Nothing is sent yet, except for a catalog. */
import { linkSignals, urlOfAddress, keepUnknownFields } from '@parley/a2a/internal'
import type { ConnectOptions, DirectFetch } from '@parley/a2a/client'
import type { Settings } from '../args/settings.ts'
import { CliError, usageError } from '../output/cli-error.ts'
import type { Output } from '../output/output.ts'
import type { Terminal } from '../terminal.ts'
import { resolveReference, type CardTarget } from './agent-reference.ts'
import { createAnswerLimit, limitAnswers, maxBytesOf, readBytes, type AnswerLimit } from './answer-limit.ts'
import {
  pollIntervalsOf,
  rankOf,
  serviceParametersOf,
  shellQuote,
  transportsOf,
  usesEndpoint,
  defaultVersion,
  versionOf,
} from './call-settings.ts'
import { namesHost } from './host-url.ts'
import { lazyGrpc } from './lazy-grpc.ts'
import { createProjectTrust, type CheckProjectTrust } from './project-trust.ts'

const maxTimerMs = 2 ** 31 - 1
/** The default limits of `--max-answer` for what describes agents. */
const [maxCardBytes, maxCatalogBytes] = [1_000_000, 16_000_000]

export interface ConnectDeps {
  readonly terminal: Terminal
  readonly settings: Settings
  readonly output: Output
  readonly signal: AbortSignal
  /** Whether streams are forwarded as they come, and not kept. */
  readonly forwardsStreams?: true
}

/** An agent that can be connected to. */
export interface PreparedAgent {
  /** The reference as the user gave it. */
  readonly reference: string
  /** The arguments that connect to the same agent again, quoted for a shell. */
  readonly resumeArgs: string
  /** A card, where to find it, or for `--endpoint` a card that stands for the missing one. */
  readonly target: CardTarget
  readonly hasCard: boolean
  /** The fetch of the options, without credentials. */
  readonly fetch: DirectFetch
  /** Without `version` and `interceptors`. */
  readonly options: ConnectOptions
  readonly checkProjectTrust: CheckProjectTrust
  readonly answerLimit: AnswerLimit
  close(): void
}

export async function prepareAgent(deps: ConnectDeps): Promise<PreparedAgent> {
  const { terminal, settings, output, signal } = deps
  const endpoint = settings.value('endpoint')
  const card = settings.value('agent-card')
  const isEndpoint = usesEndpoint(settings)
  if (endpoint === undefined && card === undefined)
    throw usageError('No agent is named.', 'Use --agent-card <host|url|file>, or set A2ACLI_AGENT_CARD.')
  if (isGiven(settings, 'agent-card') && isGiven(settings, 'endpoint'))
    throw usageError('--endpoint excludes --agent-card.')
  const reference = (isEndpoint ? endpoint : card) ?? ''
  if (reference.trim() === '')
    throw usageError(`--${isEndpoint ? 'endpoint' : 'agent-card'} is empty.`, 'Use --agent-card <host|url|file>.')
  // All options are checked before the network is used.
  const prefer = transportsOf(settings)
  const version = versionOf(settings)
  const headers = serviceParametersOf(settings)
  const intervals = pollIntervalsOf(settings)
  // 0 means no limit: the longest time that a timer has.
  const timeoutMs = Math.min(settings.durationMs('timeout') ?? 30_000, maxTimerMs) || maxTimerMs
  if (isEndpoint && prefer.length !== 1)
    throw usageError('--endpoint needs exactly one --transport.', 'Use --transport jsonrpc, rest or grpc.')
  const catalog = isEndpoint ? undefined : catalogFor(settings, reference)
  const checkProjectTrust = createProjectTrust(
    settings,
    [isEndpoint ? 'endpoint' : 'agent-card', ...(catalog === undefined ? [] : (['catalog'] as const))],
    catalog === undefined ? reference : `${reference} of the catalog ${catalog}`,
  )
  // These go along with every request; the others only where the card asks for them.
  for (const name of ['svc-param', 'client-cert']) checkProjectTrust(name)

  const isInsecure = settings.has('insecure')
  if (isInsecure) output.warn('TLS certificates are not verified (--insecure).')
  const tls = await tlsOf(settings, terminal.cwd, isInsecure)
  const answerLimit = createAnswerLimit(settings, deps.forwardsStreams === true)
  const fetch = await openFetch(deps, tls, Object.keys(headers), answerLimit)
  const resumeArgs = resumeArgsOf(settings, isEndpoint ? '-e' : '-a', reference)
  const target: CardTarget = isEndpoint
    ? {
        document: endpointCard(reference, prefer[0] ?? '', version ?? defaultVersion, settings.value('tenant')),
        path: reference,
      }
    : await resolveReference(reference, {
        cwd: terminal.cwd,
        catalog,
        fetchText: (url, withParameters) => fetchText(fetch, url, withParameters ? headers : {}, deps, timeoutMs),
      })
  const { createCredentials } = await import('../auth/credentials.ts')
  const cardUrl = 'url' in target ? target.url : undefined
  const grpc = lazyGrpc({ tls, limit: answerLimit, isSecure: cardUrl?.toLowerCase().startsWith('https:') ?? false })
  const isExplicit = settings.sourceOf('timeout').kind !== 'default'
  return {
    reference,
    resumeArgs,
    target,
    hasCard: !isEndpoint,
    fetch,
    checkProjectTrust,
    answerLimit,
    options: {
      fetch,
      headers,
      authenticate: createCredentials({
        settings,
        output,
        terminal,
        fetch,
        cardUrl,
        hasCard: !isEndpoint,
        agentArgs: resumeArgs,
        checkProjectTrust,
      }),
      prefer,
      bindings: keepUnknownFields(grpc),
      extensions: settings.values('extension'),
      // An explicit --timeout is one budget for everything; its signal ends the rest.
      limits: {
        ...intervals,
        timeoutMs,
        maxBodyBytes: answerLimit.maxBytes,
        maxEventBytes: answerLimit.maxBytes,
        maxCardBytes: maxBytesOf(settings, maxCardBytes),
        ...(isExplicit ? { answerTimeoutMs: timeoutMs, cardTimeoutMs: timeoutMs } : {}),
      },
      log: { warn: output.warn, debug: (text, about) => output.debug(text, toStruct(about)) },
      ...(await signatureOptions(settings, terminal.cwd)),
      signal,
    },
    close: () => grpc.close(),
  }
}

function isGiven(settings: Settings, name: string): boolean {
  return settings.sourceOf(name).kind === 'flag'
}

/** The catalog to look a name up in: that of a file does not replace a host or a file which a stronger source names. */
function catalogFor(settings: Settings, reference: string): string | undefined {
  // A URL, a path, or `<name>@<catalog>`.
  if (/[/\\]|^[^@:]+@./.test(reference)) return undefined
  const isPlain = namesHost(reference) || /\.json$/i.test(reference)
  const isWeaker = rankOf(settings, 'catalog') === 1 && rankOf(settings, 'agent-card') > 1
  return isPlain && isWeaker ? undefined : settings.value('catalog')
}

interface TlsSettings {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly rejectUnauthorized?: boolean
}

async function tlsOf(settings: Settings, cwd: string, isInsecure: boolean): Promise<TlsSettings | undefined> {
  const hasFiles = ['client-cert', 'client-key', 'ca-cert'].some((name) => settings.value(name) !== undefined)
  const files = hasFiles ? await (await import('../auth/tls-files.ts')).readTlsFiles(settings, cwd) : undefined
  if (files === undefined && !isInsecure) return undefined
  return { ...files, ...(isInsecure ? { rejectUnauthorized: false } : {}) }
}

async function openFetch(
  { terminal, output }: ConnectDeps,
  tls: TlsSettings | undefined,
  secretNames: readonly string[],
  limit: AnswerLimit,
): Promise<DirectFetch> {
  const { environment } = terminal
  const { nodeFetch } = await import('./node-fetch.ts')
  const hasProxy = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some((name) => environment[name])
  const fetch = limitAnswers(
    nodeFetch({
      ...(tls === undefined ? {} : { tls }),
      ...(hasProxy ? { proxyEnv: environment } : {}),
    }),
    limit,
  )
  if (!output.isDebug) return fetch
  const { logExchanges } = await import('./wire-log.ts')
  return logExchanges(fetch, output, secretNames)
}

/** `card` for commands that look at the card: its signature is checked whatever `--verify` says. */
async function signatureOptions(settings: Settings, cwd: string): Promise<Pick<ConnectOptions, 'verify' | 'trust'>> {
  const verify = settings.value('verify') ?? 'off'
  if (verify !== 'off' && verify !== 'warn' && verify !== 'require')
    throw usageError(`--verify ${verify}: use off, warn or require.`)
  const file = settings.value('trusted-keys')
  if (file === undefined) return { verify }
  const { readTrustedKeys } = await import('./trusted-keys.ts')
  return { verify, trust: { keys: await readTrustedKeys(file, cwd) } }
}

/** The arguments that a later command needs for the same agent. Credentials are not repeated. */
function resumeArgsOf(settings: Settings, option: '-a' | '-e', reference: string): string {
  const words = [option, reference]
  for (const name of [
    'transport',
    'a2a-version',
    'tenant',
    'extension',
    'catalog',
    'ca-cert',
    'client-cert',
    'client-key',
    'config',
  ])
    if (settings.sourceOf(name).kind === 'flag')
      for (const value of settings.values(name)) words.push(`--${name}`, value)
  if (settings.sourceOf('insecure').kind === 'flag') words.push('--insecure')
  return words.map(shellQuote).join(' ')
}

/** `--endpoint` has no card, so nothing is known not to be supported. */
function endpointCard(address: string, protocolBinding: string, protocolVersion: string, tenant: string | undefined) {
  // A gRPC interface is `host:port`.
  const url = protocolBinding === 'GRPC' ? address : urlOfAddress(address)
  if (protocolBinding !== 'GRPC' && !URL.canParse(url)) throw usageError(`--endpoint ${address}: must be a URL.`)
  return {
    name: address,
    description: '',
    version: '0',
    supportedInterfaces: [{ url, protocolBinding, protocolVersion, ...(tenant === undefined ? {} : { tenant }) }],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  }
}

async function fetchText(
  fetch: DirectFetch,
  url: string,
  headers: Readonly<Record<string, string>>,
  { settings, signal }: ConnectDeps,
  timeoutMs: number,
): Promise<string> {
  const linked = linkSignals([signal], timeoutMs, () => {
    const text = settings.value('timeout') ?? ''
    return new CliError('A2ACLI_ERR_TIMEOUT', `The catalog ${url} did not arrive within --timeout ${text}.`)
  })
  try {
    const request = new Request(url, { headers: { accept: 'application/json', ...headers }, signal: linked.signal })
    const response = await fetch(request)
    if (!response.ok) {
      await response.body?.cancel()
      throw new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `The catalog ${url} answered HTTP ${response.status}.`)
    }
    return (await readBytes(response, `The catalog ${url}`, maxBytesOf(settings, maxCatalogBytes))).toString()
  } catch (cause) {
    linked.signal.throwIfAborted()
    if (cause instanceof CliError) throw cause
    throw new CliError('A2ACLI_ERR_UNREACHABLE', `The catalog ${url} cannot be reached.`, { cause })
  } finally {
    linked.end()
  }
}

function toStruct(about: object | undefined): Record<string, string> | undefined {
  if (about === undefined) return undefined
  return Object.fromEntries(
    Object.entries(about).map(([key, value]) => [key, value instanceof Error ? value.message : JSON.stringify(value)]),
  )
}
