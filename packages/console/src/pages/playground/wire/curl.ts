/** A request as a command for a shell. It holds no secret of the page: a key is named, and only for an agent that needs one. */
import type { Agent } from '../../../api/admin.ts'
import { keyHeader, quoted } from '../../tasks/as-curl.ts'
import type { Exchange } from './exchange.ts'

/** A shell takes no longer words than this, and nobody reads them. */
const longest = 60_000
/** What only this page shows. */
const own = /^(x-csrf-token|cookie|authorization|user-agent)$/i

export function curlOf(
  { method, url, headers, body }: Pick<Exchange, 'method' | 'url' | 'headers' | 'body'>,
  agent: Pick<Agent, 'isOpen'>,
): string {
  const isStream = headers.some(([name, value]) => /^accept$/i.test(name) && value.includes('event-stream'))
  const isLong = body !== undefined && body.length > longest
  const lines = [
    `curl ${isStream ? '-N ' : ''}${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    ...headers.filter(([name]) => !own.test(name)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...keyHeader(agent),
    ...(body === undefined ? [] : [isLong ? "--data-binary @- <<'PARLEY'" : `-d ${quoted(body)}`]),
  ]
  const command = lines.join(' \\\n  ')
  return isLong ? `${command}\n${body}\nPARLEY` : command
}
