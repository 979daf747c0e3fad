/** A request as a curl command without secrets of the page. The key is a variable, present only if the agent requires one. */
import type { Agent } from '../../../api/admin.ts'
import { curlKeyHeader, shellQuote } from '../../../components/shell/curl.ts'
import type { Exchange } from './exchange.ts'

/** A longer body exceeds what shells accept as an argument, and is unreadable. */
const maxArgumentLength = 60_000
/** Headers that belong to the session of this page. */
const sessionHeaders = /^(x-csrf-token|cookie|authorization|user-agent)$/i

export function exchangeCurl(
  { method, url, headers, body }: Pick<Exchange, 'method' | 'url' | 'headers' | 'body'>,
  agent: Pick<Agent, 'isOpen'>,
): string {
  const isStream = headers.some(([name, value]) => /^accept$/i.test(name) && value.includes('event-stream'))
  const isLong = body !== undefined && body.length > maxArgumentLength
  const lines = [
    `curl ${isStream ? '-N ' : ''}${method === 'GET' ? '' : `-X ${method} `}${shellQuote(url)}`,
    ...headers
      .filter(([name]) => !sessionHeaders.test(name))
      .map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`),
    ...curlKeyHeader(agent),
    ...(body === undefined ? [] : [isLong ? "--data-binary @- <<'PARLEY'" : `-d ${shellQuote(body)}`]),
  ]
  const command = lines.join(' \\\n  ')
  return isLong ? `${command}\n${body}\nPARLEY` : command
}
