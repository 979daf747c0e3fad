/** Requests to the admin API of a running hub, for the commands that need one. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { clientProof, connectionText, hubProof, isSameSecret, sha256Hex } from '../auth/key-format.ts'
import { operatorMessage } from '../json/operator-message.ts'
import { adminKeyFile } from '../store/data-directory.ts'
import { readAdminKey } from './admin-key-file.ts'
import { CliError, exitCodes, usageError, type Flags, type Terminal } from './command.ts'
import { commandText, storeNameFlags } from './command-text.ts'
import { requireThisMachine } from './hub-address.ts'

const defaultTimeoutSeconds = 30

export interface HubConnection {
  readonly url: string
  readonly key: string
  /** Where the key was read: a variable, a setting or a file. */
  readonly keyFrom: string
  /** Whether it was read from the file that a start without a configured key wrote. */
  readonly isKeyFile?: true
  /** Where a file with the admin key may be, if the configuration was read. */
  readonly dataDir?: string
}

/** The hub that the command names; without one, it is that of the configuration. */
export async function namedUrl(flags: Flags, { environment }: Terminal): Promise<string | undefined> {
  const address = flags.value('url') ?? environment['PARLEY_URL']
  if (address === undefined) return undefined
  // Loaded here only: it brings the SDK along.
  const { urlOfAddress } = await import('@parley/a2a/internal')
  const url = urlOfAddress(address).replace(/\/+$/, '')
  if (URL.canParse(url)) return url
  throw usageError(`${address} is not the URL of a hub, such as http://127.0.0.1:3000.`)
}

/**
 * Throws CliError without a key: `unauthorized` if the hub runs, else `unreachable`. An address that no flag and no variable names may be
 * from a folder that was cloned, or that of a hub that was killed, whose port another program has now. It gets no key of the environment
 * unless it is on this machine, and no key before it has proved that it knows the key.
 */
export async function hubConnection(flags: Flags, terminal: Terminal): Promise<HubConnection> {
  const named = await namedUrl(flags, terminal)
  const { isFromEnvironment, ...connection } = await chooseHub(flags, terminal, named)
  if (named !== undefined) return connection
  const { url, keyFrom } = connection
  if (isFromEnvironment) await requireThisMachine(url, `The admin key of ${keyFrom}`, '--url')
  await requireProof(connection, flags)
  return connection
}

async function chooseHub(
  flags: Flags,
  terminal: Terminal,
  named: string | undefined,
): Promise<HubConnection & { readonly isFromEnvironment: boolean }> {
  const known = terminal.environment['PARLEY_ADMIN_KEY']
  const fromVariable = { key: known ?? '', keyFrom: 'PARLEY_ADMIN_KEY', isFromEnvironment: true }
  if (named !== undefined && known !== undefined) return { url: named, ...fromVariable }
  const { configuredKey, ...address } = await configuredHub(flags, terminal, named)
  const { url, dataDir } = address
  if (known !== undefined) return { ...address, ...fromVariable }
  const { key: own, isReference: isFromEnvironment } = configuredKey()
  if (own !== undefined) return { ...address, key: own, keyFrom: '`admin.key` of the configuration', isFromEnvironment }
  const key = await readAdminKey(dataDir)
  const file = adminKeyFile(dataDir)
  if (key !== undefined) return { ...address, key, keyFrom: file, isKeyFile: true, isFromEnvironment: false }
  if (!(await isHubHealth(await fetchHub(`${url}/healthz`, flags))))
    throw new CliError(
      `No hub responds at ${url}: another program does. Start the hub with \`parley up --port <port>\`, or name it with --url.`,
      exitCodes.unreachable,
    )
  if (named === undefined && !existsSync(dataDir))
    throw new CliError(
      `A hub runs at ${url}, but not in ${dataDir}, which does not exist. Run the command in the folder of that hub, name its data directory with --data, or set PARLEY_ADMIN_KEY.`,
      exitCodes.unauthorized,
    )
  const rotate = commandText(flags, terminal, 'key rotate admin', storeNameFlags)
  const advice = named === undefined ? `, or stop the hub and run \`${rotate}\`` : ''
  throw new CliError(
    `The hub runs at ${url}, but its admin key is not in ${file}. Set PARLEY_ADMIN_KEY${advice}.`,
    exitCodes.unauthorized,
  )
}

/**
 * The server answers a random nonce with a value that only the key gives, and only to a client that proves the key, too: otherwise the
 * port could be asked for values to guess a key by. The ends of the connection are part of the value, so that a program cannot have a
 * hub with the same key answer for it.
 */
async function requireProof(connection: HubConnection, flags: Flags): Promise<void> {
  const { url, key, keyFrom } = connection
  const nonce = randomBytes(32).toString('base64url')
  const hash = sha256Hex(key)
  let ends = ''
  const response = await fetchHub(`${url}/admin/sign-in/proof`, flags, {
    body: JSON.stringify({ nonce, proof: clientProof(hash, nonce) }),
    send: postOn((connected) => (ends = connected)),
  })
  const answer = await readAnswer<{ proof?: unknown }>(response, url, flags)
  if (response.ok && typeof answer?.proof === 'string' && isSameSecret(answer.proof, hubProof(hash, nonce, ends)))
    return
  if ([401, 403, 429].includes(response.status))
    throw responseError(response.status, answer?.error?.message, connection)
  throw new CliError(
    `The program at ${url} did not prove that it knows the admin key of ${keyFrom}, which was not sent: it is another program, a hub behind a proxy or a mapped port, or one of another version. Restart the hub, or name it with --url.`,
    exitCodes.unauthorized,
  )
}

type Send = (url: string, init: RequestInit) => Promise<Response>

/** Sends JSON as `fetch` does, which does not show the connection. */
function postOn(connected: (ends: string) => void): Send {
  return async (url, { body, signal }) => {
    const [{ request }, { text }] = await Promise.all([
      url.startsWith('https:') ? import('node:https') : import('node:http'),
      import('node:stream/consumers'),
    ])
    const sent = request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      agent: false,
      ...(signal ? { signal } : {}),
    }).end(body)
    try {
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      const { localAddress, localPort, remoteAddress, remotePort } = response.socket
      connected(
        connectionText({ address: localAddress, port: localPort }, { address: remoteAddress, port: remotePort }),
      )
      return new Response(await text(response), { status: response.statusCode ?? 0 })
    } catch (cause) {
      throw signal?.aborted === true ? signal.reason : new TypeError('fetch failed', { cause })
    }
  }
}

/** The commands that have printed what is wrong with the configuration. */
const reported = new WeakSet<Flags>()

/**
 * A hub runs although its file has errors meanwhile, or refers to a variable that only its own terminal has. The record in its data
 * directory then has its address.
 */
async function configuredHub(flags: Flags, terminal: Terminal, named: string | undefined) {
  const [settings, address] = await Promise.all([import('./cli-settings.ts'), import('./hub-address.ts')])
  const loaded = await settings.readConfig(flags, terminal)
  const dataDir = settings.resolvedDataDirectory(flags, terminal)
  if ('config' in loaded || settings.lacksOnlySecrets(loaded)) {
    const url = named ?? (await address.localHubUrl(flags, dataDir, () => settings.sectionOf(loaded, 'listen')))
    const key = (): ConfiguredKey => ({
      key: settings.sectionOf(loaded, 'admin', 'key').key,
      isReference: loaded.references.has('admin.key'),
    })
    return { configuredKey: key, url, dataDir }
  }
  const url = named ?? (await address.recordedAddress(dataDir))
  const problems = settings.problemLines(loaded.problems, loaded.file)
  if (url === undefined) throw new CliError(problems.join('\n'))
  // A command may send several requests.
  if (!reported.has(flags)) {
    const lacked = settings.lackedVariables(loaded, terminal)
    terminal.printError(
      lacked.length > 0
        ? `This terminal lacks ${lacked.join(', ')}, which the configuration refers to; the hub at ${url} has its own environment.`
        : `The configuration is invalid; the hub at ${url} is asked all the same. ${problems[0]}`,
    )
  }
  reported.add(flags)
  return { configuredKey: (): ConfiguredKey => ({ key: undefined, isReference: false }), url, dataDir }
}

interface ConfiguredKey {
  readonly key: string | undefined
  /** Whether it is a variable or a file, to which any configuration may refer. */
  readonly isReference: boolean
}

/** The address of the hub of a command, which may not run. */
export async function hubUrl(flags: Flags, terminal: Terminal): Promise<string> {
  return (await namedUrl(flags, terminal)) ?? (await configuredHub(flags, terminal, undefined)).url
}

/** Whether a hub sent this response to `/healthz`, not another program at the same port. */
export async function isHubHealth(response: Response): Promise<boolean> {
  return response.ok && /"status":"ok"/.test(await response.text())
}

export async function requestAdmin<T>(
  flags: Flags,
  terminal: Terminal,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const connection = await hubConnection(flags, terminal)
  const { url, key } = connection
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const response = await fetchHub(`${url}${path}`, flags, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await readAnswer<T>(response, url, flags)
  if (response.ok && answer !== undefined) return answer
  throw responseError(response.status, answer?.error?.message, connection)
}

/** `undefined` if it is no JSON. */
async function readAnswer<T>(
  response: Response,
  url: string,
  flags: Flags,
): Promise<(T & { error?: { message?: string } }) | undefined> {
  return (await response.json().catch((reason: unknown) => {
    if ((reason as Error).name === 'TimeoutError') throw timeoutError(url, flags)
  })) as (T & { error?: { message?: string } }) | undefined
}

/**
 * Throws CliError with the exit code for an unreachable hub or a timeout. With `streamSignal` the timeout applies until the response
 * begins, and that signal ends it.
 */
export async function fetchHub(
  url: string,
  flags: Flags,
  { send = fetch, ...init }: RequestInit & { readonly send?: Send } = {},
  streamSignal?: AbortSignal,
): Promise<Response> {
  const { origin } = new URL(url)
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(new DOMException('', 'TimeoutError')), timeoutSeconds(flags) * 1_000)
  timer.unref()
  streamSignal?.addEventListener('abort', () => timeout.abort(streamSignal.reason), { once: true })
  const begun = send(url, { ...init, signal: timeout.signal })
  if (streamSignal !== undefined) void begun.finally(() => clearTimeout(timer)).catch(() => {})
  return begun.catch(async (reason: unknown) => {
    if ((reason as Error).name === 'TimeoutError') throw timeoutError(origin, flags)
    const text = operatorMessage(reason)
    // Something responds, but not as expected: often a certificate that is not issued for the address.
    const code = networkErrorCode(reason)
    // It has no code.
    if (((reason as Error).cause as Error | undefined)?.name === 'HTTPParserError')
      throw new CliError(
        `${origin} does not speak HTTP/1.1, as the gRPC port of a hub: name the HTTP port of the hub with --url.`,
      )
    if (code === 'ERR_SSL_WRONG_VERSION_NUMBER')
      throw new CliError(`${origin} does not speak TLS: name the hub with http:// in --url.`)
    if (!unreachableCodes.includes(code))
      throw new CliError(`The hub at ${origin} cannot be called: ${text}. Name its public URL with --url.`)
    throw new CliError(
      `No hub responds at ${origin}: ${text}. If you mean the hub of this folder, it is not running: start it with \`parley up\`. Name another one with --url.`,
      exitCodes.unreachable,
    )
  })
}

function timeoutError(url: string, flags: Flags): CliError {
  return new CliError(`The hub at ${url} did not respond within ${timeoutSeconds(flags)} s.`, exitCodes.timeout)
}

export function responseError(
  status: number,
  message: string | undefined,
  { url, keyFrom, isKeyFile }: Pick<HubConnection, 'url' | 'keyFrom' | 'isKeyFile'>,
): CliError {
  const isRefused = status === 401 || status === 403
  // It may contain what an agent or a caller wrote: no line of theirs begins where lines of the program do.
  const text = message?.replaceAll('\n', '\n  ') ?? `The hub at ${url} returned ${status}.`
  if (status === 401 && isKeyFile === true)
    return new CliError(
      `The hub at ${url} has another admin key than ${keyFrom}: it was started with PARLEY_ADMIN_KEY or \`admin.key\`. Export that key as PARLEY_ADMIN_KEY, or start the hub without it; if the file is stale, remove it.`,
      exitCodes.unauthorized,
    )
  return isRefused
    ? new CliError(`${text.replace(/\.$/, '')}. Check the admin key in ${keyFrom}.`, exitCodes.unauthorized)
    : new CliError(text)
}

function timeoutSeconds(flags: Flags): number {
  const seconds = Number(flags.value('timeout') ?? defaultTimeoutSeconds)
  if (seconds > 0 && seconds <= 3_600) return seconds
  throw usageError('--timeout must be a number of seconds from 1 to 3600.')
}

/** Yields every page of a list, in order. */
export async function* adminPages<Page extends { readonly after?: string }>(
  flags: Flags,
  terminal: Terminal,
  path: string,
): AsyncGenerator<Page> {
  let after: string | undefined
  do {
    const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`
    const page = await requestAdmin<Page>(flags, terminal, 'GET', `${path}${query}`)
    yield page
    after = page.after
  } while (after !== undefined)
}

const unreachableCodes = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNRESET',
  'ETIMEDOUT',
]

function networkErrorCode(reason: unknown): string {
  const { cause } = reason as Error
  return String((cause as NodeJS.ErrnoException | undefined)?.code)
}
