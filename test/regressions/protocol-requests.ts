/** The versions and bindings of requests, and functions that several of these tests share. */
import type { EngineLog } from '@parley/a2a/server'
import type { TestAgent } from '@parley/a2a/testing'

export interface RequestFormat {
  readonly version: '0.2' | '0.3' | '1.0'
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
}

/** Every version over every binding. */
export const requestFormats: readonly RequestFormat[] = (['0.2', '0.3', '1.0'] as const).flatMap((version) =>
  (['JSONRPC', 'HTTP+JSON'] as const).map((binding) => ({ version, binding })),
)

export const nameOf = ({ version, binding }: RequestFormat): string => `${version} over ${binding}`

export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; `undefined` if it is not JSON. */
  readonly json: any
}

/** A raw request, for what no client would send. */
export async function post(
  agent: Pick<TestAgent, 'fetch'>,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  const request = new Request(`http://agent.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return readAnswer(await agent.fetch(request))
}

export async function readAnswer(response: Response): Promise<HttpAnswer> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parseJson(text) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** SendMessage, or its streaming form with `stream`, for a version and binding, with any message. */
export function sendRequest(
  way: RequestFormat,
  message: unknown,
  stream = false,
): { path: string; body: string; headers: Record<string, string> } {
  const headers = { 'a2a-version': way.version }
  const isNew = way.version === '1.0'
  if (way.binding === 'HTTP+JSON') {
    const path = `${isNew ? '' : '/v1'}/message:${stream ? 'stream' : 'send'}`
    return { path, body: JSON.stringify({ message }), headers }
  }
  const method = isNew ? (stream ? 'SendStreamingMessage' : 'SendMessage') : `message/${stream ? 'stream' : 'send'}`
  return { path: '/', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { message } }), headers }
}

/** A valid message for a version and binding, with a text. */
export function newMessage({ version, binding }: RequestFormat, text: string): Record<string, unknown> {
  const messageId = crypto.randomUUID()
  if (version === '1.0') return { messageId, role: 'ROLE_USER', parts: [{ text }] }
  if (binding === 'HTTP+JSON') return { messageId, role: 'ROLE_USER', content: [{ text }] }
  return { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }] }
}

export interface RecordingLog extends EngineLog {
  readonly entries: readonly { readonly level: string; readonly message: string; readonly cause?: unknown }[]
}

/** A log that records instead of printing. */
export function createRecordingLog(): RecordingLog {
  const entries: { level: string; message: string; cause?: unknown }[] = []
  const write = (level: string) => (message: string, fields?: Record<string, unknown>) =>
    void entries.push({ level, message, ...fields })
  return { entries, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/** A gate that a test opens when it is ready. */
export function createGate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

/** Waits for a condition that no event announces. */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 60_000,
): Promise<void> {
  const end = Date.now() + withinMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`did not come about within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
