/** A request as a command for a shell. Who calls is for whoever runs it to say: no secret of the page is in it. */
import type { Exchange } from './exchange.ts'

/** A shell takes no longer words than this, and nobody reads them. */
const longest = 60_000
/** What only this page shows. */
const own = /^(x-csrf-token|cookie|authorization|user-agent)$/i

export function curlOf({ method, url, headers, body }: Pick<Exchange, 'method' | 'url' | 'headers' | 'body'>): string {
  const isStream = headers.some(([name, value]) => /^accept$/i.test(name) && value.includes('event-stream'))
  const isLong = body !== undefined && body.length > longest
  const lines = [
    `curl ${isStream ? '-N ' : ''}${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    ...headers.filter(([name]) => !own.test(name)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    '-H "Authorization: Bearer $PARLEY_KEY"',
    ...(body === undefined ? [] : [isLong ? "--data-binary @- <<'PARLEY'" : `-d ${quoted(body)}`]),
  ]
  const command = lines.join(' \\\n  ')
  return isLong ? `${command}\n${body}\nPARLEY` : command
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
