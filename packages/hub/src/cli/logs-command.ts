/** `parley logs`: the log of a running hub. */
import { fetchHub, hubConnection, responseError } from './admin-request.ts'
import { usageError, type Flags, type Terminal } from './command.ts'
import { styled, wantsJson } from './output.ts'

export async function showLogs(flags: Flags, terminal: Terminal): Promise<number> {
  const isJson = wantsJson(flags)
  requireValidTail(flags)
  let hasLines = false
  const stopping = new AbortController()
  if (flags.has('follow')) void terminal.untilShutdown().then(() => stopping.abort())
  try {
    for await (const line of logLines(flags, terminal, stopping.signal)) {
      hasLines = true
      if (isJson) terminal.printData(line)
      else terminal.print(textOf(JSON.parse(line) as LogLine, terminal))
    }
  } catch (reason) {
    if (!stopping.signal.aborted) throw reason
  }
  if (!hasLines) terminal.printError('No lines.')
  return 0
}

const maxTail = 1_000

function requireValidTail(flags: Flags): void {
  const tail = flags.value('tail')
  if (tail !== undefined && !(/^\d+$/.test(tail) && Number(tail) >= 1 && Number(tail) <= maxTail))
    throw usageError(`--tail must be a number from 1 to ${maxTail}, not ${JSON.stringify(tail)}.`)
}

async function* logLines(flags: Flags, terminal: Terminal, signal: AbortSignal): AsyncGenerator<string> {
  const connection = await hubConnection(flags, terminal)
  const { url, key } = connection
  const follow = flags.has('follow')
  const query = new URLSearchParams({ follow: follow ? 'yes' : 'no' })
  for (const name of ['tail', 'level']) {
    const value = flags.value(name)
    if (value !== undefined) query.set(name, value)
  }
  const headers = { authorization: `Bearer ${key}` }
  const address = `${url}/admin/logs?${query.toString()}`
  const response = await fetchHub(address, flags, { headers }, follow ? signal : undefined)
  if (!response.ok || response.body === null) {
    const answer = (await response.json().catch(() => undefined)) as { error?: { message?: string } } | undefined
    const message = answer?.error?.message
    throw response.status === 400
      ? usageError(message ?? 'Invalid option.')
      : responseError(response.status, message, connection)
  }
  const { EventSourceParserStream } = await import('eventsource-parser/stream')
  for await (const { event, data } of response.body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream()))
    if (event === 'line') yield data
}

interface LogLine {
  readonly time: string
  readonly level: string
  readonly message: string
  readonly error?: unknown
  readonly [field: string]: unknown
}

const levelStyles = { warn: 'yellow', error: 'red' } as const

function textOf({ time, level, message, error, ...fields }: LogLine, terminal: Terminal): string {
  const style = level === 'warn' || level === 'error' ? levelStyles[level] : 'dim'
  const more = Object.entries(fields).map(([name, value]) => ` ${name}=${valueText(value)}`)
  const cause = error === undefined ? '' : `: ${errorText(error)}`
  return `${time} ${styled(terminal, style, level.toUpperCase().padEnd(5))} ${message}${more.join('')}${cause}`
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The stack of an unexpected error, then what caused it. */
function errorText(error: unknown): string {
  const { stack, message, cause } = (typeof error === 'object' && error !== null ? error : {}) as Record<
    string,
    unknown
  >
  const under = cause === undefined ? '' : ` (${errorText(cause)})`
  return `${valueText(stack ?? message ?? error)}${under}`
}
