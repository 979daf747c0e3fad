/** Requests to the admin API of a running hub, for the commands that need one. */
import { CliError, exitCodes, usageError, type Command, type Flags, type Terminal } from './command.ts'
import { readAdminKey } from './first-admin-key.ts'
import { configFlags, listenFlags } from './config-flags.ts'
import { outputDetails, outputFlags } from './output.ts'

const defaultTimeoutSeconds = 30

export const hubFlags = {
  ...configFlags,
  ...listenFlags,
  ...outputFlags,
  url: { type: 'string' },
  timeout: { type: 'string' },
} satisfies Command['flags']
export const hubDetails = [
  '-c, --config <file>     Default: parley.yaml, parley.yml or parley.json in this folder.',
  '--host, --port, --grpc-port, --store, --data   Override the configuration.',
  '--url <url>             URL of the hub. Default: PARLEY_URL, or the configuration.',
  '--timeout <seconds>     How long to wait for the hub. Default 30.',
  ...outputDetails,
  'The admin key is read from PARLEY_ADMIN_KEY, the configuration, or the file written at the first start.',
]

export interface HubConnection {
  readonly url: string
  readonly key: string
  /** Where a file with the admin key may be, if the configuration was read. */
  readonly dataDir?: string
}

const keyMissingText =
  'No admin key. If the hub was never started, run `parley up`. Otherwise set PARLEY_ADMIN_KEY to the key of its first start.'

export function isKeyMissing({ message }: CliError): boolean {
  return message === keyMissingText
}

export async function hubConnection(flags: Flags, terminal: Terminal): Promise<HubConnection> {
  const { environment } = terminal
  const named = flags.value('url') ?? environment['PARLEY_URL']
  const known = environment['PARLEY_ADMIN_KEY']
  if (named !== undefined && known !== undefined) return { url: named.replace(/\/+$/, ''), key: known }
  const { listenUrl, readValidConfig } = await import('./cli-settings.ts')
  const { listen, admin, dataDir } = (await readValidConfig(flags, terminal)).config
  const key = known ?? admin.key ?? (await readAdminKey(dataDir))
  if (key === undefined) {
    throw new CliError(keyMissingText, exitCodes.unauthorized)
  }
  return { url: named?.replace(/\/+$/, '') ?? listenUrl(listen), key, dataDir }
}

export async function requestAdmin<T>(
  flags: Flags,
  terminal: Terminal,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const { url, key } = await hubConnection(flags, terminal)
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const response = await fetchHub(`${url}${path}`, flags, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = (await response.json().catch((reason: unknown) => {
    if ((reason as Error).name === 'TimeoutError') throw timeoutError(url, flags)
  })) as (T & { error?: { message?: string } }) | undefined
  if (response.ok && answer !== undefined) return answer
  throw responseError(response.status, answer?.error?.message, url)
}

/**
 * Throws CliError with the exit code for an unreachable hub or a timeout. With `streamSignal` the timeout applies until the response
 * begins, and that signal ends it.
 */
export async function fetchHub(
  url: string,
  flags: Flags,
  init: RequestInit = {},
  streamSignal?: AbortSignal,
): Promise<Response> {
  const { origin } = new URL(url)
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(new DOMException('', 'TimeoutError')), timeoutSeconds(flags) * 1_000)
  timer.unref()
  streamSignal?.addEventListener('abort', () => timeout.abort(streamSignal.reason), { once: true })
  const begun = fetch(url, { ...init, signal: timeout.signal })
  if (streamSignal !== undefined) void begun.finally(() => clearTimeout(timer)).catch(() => {})
  return begun.catch((reason: unknown) => {
    if ((reason as Error).name === 'TimeoutError') throw timeoutError(origin, flags)
    const text = networkErrorText(reason)
    // Something responds, but not as expected: often a certificate that is not issued for the address.
    if (!unreachableCodes.includes(networkErrorCode(reason)))
      throw new CliError(`The hub at ${origin} cannot be called: ${text}. Name its public URL with --url.`)
    throw new CliError(
      `No hub responds at ${origin}: ${text}. Start it with \`parley up\`, or name it with --url.`,
      exitCodes.unreachable,
    )
  })
}

function timeoutError(url: string, flags: Flags): CliError {
  return new CliError(`The hub at ${url} did not respond within ${timeoutSeconds(flags)} s.`, exitCodes.timeout)
}

export function responseError(status: number, message: string | undefined, url: string): CliError {
  const isRefused = status === 401 || status === 403
  const text = message ?? `The hub at ${url} returned ${status}.`
  return isRefused
    ? new CliError(`${text.replace(/\.$/, '')}. Check the admin key in PARLEY_ADMIN_KEY.`, exitCodes.unauthorized)
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

function networkErrorText(reason: unknown): string {
  const { cause, message } = reason as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}
