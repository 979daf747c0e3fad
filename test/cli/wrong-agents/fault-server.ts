/**
 * A correct agent with one fault: our server, and in front of it a function that changes requests or responses on the wire.
 * What the fault does not touch stays correct, so that a check that fails has found the fault.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { memoryStore } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import type { ServeOptions } from '@parley/a2a/node'
import { scriptedAgent } from './scripted-agent.ts'

export type Next = (request: Request) => Promise<Response>
/** Sees a request to the agent, and returns the response that the client gets. */
export type Intercept = (request: Request, next: Next) => Promise<Response>

export interface FaultServerOptions {
  readonly intercept?: Intercept | undefined
  /** The same for the requests to webhooks. */
  readonly webhook?: Intercept | undefined
  readonly settings?: Partial<ServeOptions> | undefined
}

export interface FaultServer extends AsyncDisposable {
  readonly url: string
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export async function startFaultServer(options: FaultServerOptions = {}): Promise<FaultServer> {
  const { intercept, webhook, settings } = options
  const next: Next = (request) => server.handler.fetch(request)
  const middleware = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (intercept === undefined) return false
    const web = toWebRequest(request, response)
    void intercept(web, next)
      .then((answer) => writeResponse(answer, response))
      .catch(() => response.destroy())
    return true
  }
  const given = {
    name: 'Scripted agent',
    description: 'Does what the message says',
    version: '1.2.3',
    provider: { organization: 'Example', url: 'https://example.com' },
    skills: [{ id: 'act', name: 'Act', description: 'Plays a part', tags: ['test'] }],
    inputModes: ['text/plain', 'application/json'],
    outputModes: ['text/plain'],
    strict: true,
    // A fault passes requests on without a connection, so that the server cannot know that they are from this machine.
    allowAnonymousList: true,
    agent: scriptedAgent,
    port: 0,
    grpcPort: 0,
    store: memoryStore(),
    log: silent,
    quiet: true,
    drainMs: 0,
    middleware,
    push: {
      // The guard refuses what the specification names, except the receiver of the judge on this machine.
      allow: ['127.0.0.1', 'localhost'],
      triggers: 'all',
      scheduleMs: [20, 20, 20],
      ...(webhook === undefined ? {} : { fetch: (request: Request) => webhook(request, (changed) => fetch(changed)) }),
    },
    ...settings,
  }
  const server = await serve(given as ServeOptions)
  return { url: server.url, [Symbol.asyncDispose]: () => server.close() }
}

function toWebRequest(request: IncomingMessage, response: ServerResponse): Request {
  const controller = new AbortController()
  response.once('close', () => controller.abort())
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
  return new Request(`http://${request.headers.host}${request.url}`, {
    method: request.method ?? 'GET',
    headers,
    signal: controller.signal,
    ...(hasBody ? { body: Readable.toWeb(request), duplex: 'half' as const } : {}),
  })
}

async function writeResponse(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (answer.body === null) {
    response.end()
    return
  }
  response.flushHeaders()
  await pipeline(Readable.fromWeb(answer.body), response).catch(() => {})
}
