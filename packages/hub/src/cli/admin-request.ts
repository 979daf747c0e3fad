/** Requests to the admin API of a running hub, for the commands that need one. */
import { CliError, type Command, type Flags, type Terminal } from './command.ts'
import { readAdminKey } from './first-admin-key.ts'
import { configFlags, listenFlags } from './config-flags.ts'

export const hubFlags = { ...configFlags, ...listenFlags, url: { type: 'string' } } satisfies Command['flags']
export const hubDetails = [
  '--url <url>             URL of the hub. Default: PARLEY_URL, or the configuration.',
  'The admin key is read from PARLEY_ADMIN_KEY, the configuration, or the file written at the first start.',
]

interface HubConnection {
  readonly url: string
  readonly key: string
}

async function hubConnection(flags: Flags, terminal: Terminal): Promise<HubConnection> {
  const { environment } = terminal
  const named = flags.value('url') ?? environment['PARLEY_URL']
  const known = environment['PARLEY_ADMIN_KEY']
  if (named !== undefined && known !== undefined) return { url: named.replace(/\/+$/, ''), key: known }
  const { listenUrl, readValidConfig } = await import('./cli-settings.ts')
  const { listen, admin, dataDir } = (await readValidConfig(flags, terminal)).config
  const key = known ?? admin.key ?? (await readAdminKey(dataDir))
  if (key === undefined) {
    throw new CliError('Set PARLEY_ADMIN_KEY to the admin key that the hub created at its first start.')
  }
  return { url: named?.replace(/\/+$/, '') ?? listenUrl(listen), key }
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
  const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await fetch(`${url}${path}`, sent).catch((reason: unknown) => {
    throw new CliError(`No hub responds at ${url}: ${networkErrorText(reason)}`)
  })
  const answer = (await response.json().catch(() => undefined)) as T & { error?: { message?: string } }
  if (response.ok) return answer
  throw new CliError(answer?.error?.message ?? `The hub returned ${response.status}.`)
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

function networkErrorText(reason: unknown): string {
  const { cause, message } = reason as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}
