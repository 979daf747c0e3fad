/** A recorded exchange: a request, the response head and each frame with its time; as rows, and as a curl command. */
import type { Agent } from '../../../api/admin.ts'
import { curlKeyHeader, shellQuote } from '../../../components/shell/curl.ts'

export interface ProtocolFrame {
  /** Milliseconds since the request was sent. */
  readonly afterMs: number
  /** As received: the lines of a server-sent event, or the whole body. */
  readonly text: string
}

export interface Exchange {
  readonly id: number
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | undefined
  readonly sentAt: number
  readonly response:
    | {
        readonly status: number
        readonly headers: readonly (readonly [name: string, value: string])[]
        readonly afterMs: number
      }
    | undefined
  readonly frames: readonly ProtocolFrame[]
  /** Number of earlier frames that were dropped. */
  readonly droppedFrames: number
  readonly ended: { readonly afterMs: number; readonly why: 'whole' | 'broken' | 'left' } | undefined
}

export type ProtocolRow =
  | { readonly kind: 'request'; readonly exchange: Exchange }
  | { readonly kind: 'answer'; readonly exchange: Exchange }
  | { readonly kind: 'frame'; readonly exchange: Exchange; readonly index: number }
  | { readonly kind: 'end'; readonly exchange: Exchange }

export function protocolRows(exchanges: readonly Exchange[], filter: string): readonly ProtocolRow[] {
  const words = filter.trim().toLowerCase()
  return exchanges.flatMap((exchange) => {
    const rows: ProtocolRow[] = [{ kind: 'request', exchange }]
    if (exchange.response !== undefined) rows.push({ kind: 'answer', exchange })
    for (let index = 0; index < exchange.frames.length; index += 1) rows.push({ kind: 'frame', exchange, index })
    if (exchange.ended !== undefined && exchange.ended.why !== 'whole') rows.push({ kind: 'end', exchange })
    return words === '' ? rows : rows.filter((row) => protocolRowText(row).toLowerCase().includes(words))
  })
}

export function protocolRowKey(row: ProtocolRow): string {
  return `${row.exchange.id} ${row.kind} ${row.kind === 'frame' ? row.exchange.droppedFrames + row.index : ''}`
}

/** The whole row, as text to copy. */
export function protocolRowText(row: ProtocolRow): string {
  const { exchange } = row
  switch (row.kind) {
    case 'request': {
      const head = [`${exchange.method} ${exchange.url}`, ...exchange.headers.map((pair) => pair.join(': '))].join('\n')
      return exchange.body === undefined ? head : `${head}\n\n${exchange.body}`
    }
    case 'answer':
      return [
        `HTTP ${exchange.response?.status}`,
        ...(exchange.response?.headers ?? []).map((pair) => pair.join(': ')),
      ].join('\n')
    case 'frame':
      return exchange.frames[row.index]?.text ?? ''
    case 'end':
      return endText(exchange)
  }
}

export function endText({ ended }: Exchange): string {
  return ended?.why === 'broken' ? 'Connection lost' : 'Closed by this page'
}

/** A short description of a frame, in any version and binding. */
export function frameSummary(text: string): string {
  const data = frameData(text)
  if (data === undefined) return text.startsWith(':') ? 'heartbeat' : (text.split('\n', 1)[0] ?? '')
  const event = asRecord(data['result']) ?? data
  const error = asRecord(data['error'])
  if (error !== undefined) return `error ${wordOf(error['code'])} ${wordOf(error['message'])}`
  const { kind } = event
  const inner = asRecord(event['task']) ?? asRecord(event['statusUpdate']) ?? asRecord(event['artifactUpdate']) ?? event
  const name = ['task', 'statusUpdate', 'artifactUpdate', 'message', 'msg'].find((one) => one in event)
  const state = wordOf(asRecord(inner['status'])?.['state']).replace('TASK_STATE_', '')
  const words = textIn(asRecord(inner['artifact']) ?? asRecord(asRecord(inner['status'])?.['message']) ?? {})
  const gist = [name ?? wordOf(kind), state, words].filter((one) => one !== '').join(' · ')
  return gist === '' ? text.slice(0, 80) : gist
}

/** The JSON of a frame: the data of an event, otherwise the whole body. */
export function frameData(text: string): Readonly<Record<string, unknown>> | undefined {
  const isEvent = /^(id|data|event|retry):/m.test(text)
  const lines = text.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).replace(/^ /, '')] : []))
  try {
    return asRecord(JSON.parse(isEvent ? lines.join('\n') : text) as unknown)
  } catch {
    return undefined
  }
}

export function frameId(text: string): string | undefined {
  return /^id: ?(.*)$/m.exec(text)?.[1]
}

/** The operation of a request. */
export function requestOperation({ method, url, body }: Pick<Exchange, 'method' | 'url' | 'body'>): string {
  const asked = body === undefined ? undefined : frameData(body)?.['method']
  if (typeof asked === 'string') return asked
  const path = new URL(url).pathname
  if (/\/\.well-known\//.test(path)) return 'agent card'
  return /:\w+$/.exec(path)?.[0]?.slice(1) ?? (method === 'GET' ? 'get' : 'call')
}

function textIn({ parts, content }: Readonly<Record<string, unknown>>): string {
  const list = [parts, content].find((one) => Array.isArray(one)) as readonly unknown[] | undefined
  const words = (list ?? []).map((part) => wordOf(asRecord(part)?.['text'])).join('')
  const short = words.replaceAll('\n', '⏎').slice(0, 60)
  return short === '' ? '' : `“${short}${words.length > 60 ? '…' : ''}”`
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}

function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** A longer body exceeds what shells accept as an argument, and is unreadable. */
const maxArgumentLength = 60_000
/** Headers that belong to the session of this page. */
const sessionHeaders = /^(x-csrf-token|cookie|authorization|user-agent)$/i

/** The request as a curl command without secrets of the page. The key is a variable, present only if the agent requires one. */
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
