/**
 * A connection to an MCP server: made when it is first needed, and again when it is lost. Nothing of a call is ever
 * repeated by itself, unless the server said that it has done nothing: a tool may have done its work before its answer
 * got lost.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, SdkHttpError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type {
  CallToolResult,
  ElicitRequestParams,
  ElicitResult,
  PriorDiscovery,
  Progress,
  Tool,
  Transport,
} from '@modelcontextprotocol/client'
import { A2AError } from '@parley/a2a'
import type { AgentLog, Struct } from '@parley/a2a'
import { stopwatch } from '../stopwatch.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { programTransport } from './program-transport.ts'
import type { McpServer } from './server.ts'

export interface McpConnection {
  /** As the server lists them now. */
  tools(signal: AbortSignal): Promise<readonly Tool[]>
  call(name: string, input: Struct, options: McpCallOptions): Promise<CallToolResult>
  /** What the server says of itself. */
  about(signal: AbortSignal): Promise<McpAbout>
  /** Whether a call is under way. */
  readonly isBusy: boolean
  /** For good: the program is ended with all that it started. */
  close(): Promise<void>
}

export interface McpAbout {
  readonly name?: string
  readonly version?: string
  readonly instructions?: string
}

export interface McpCallOptions {
  readonly signal: AbortSignal
  /** The time that somebody takes to answer the server's question does not count. */
  readonly timeoutMs: number
  onProgress?(progress: Progress): void
  /** The server asks the person at the other end. Left out: it is told that nobody is there. */
  onElicit?(question: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult>
}

export interface McpConnectionOptions {
  readonly fetch: typeof globalThis.fetch
  readonly log: AgentLog
  readonly connectTimeoutMs: number
  /** What was learned of the server before, shared by its connections. */
  readonly memory?: McpMemory
}

export interface McpMemory {
  prior?: PriorDiscovery
}

/** Old servers may not answer what they do not know. */
const probeMs = 3_000
/** The SDK's own limit, which would count what must not count: ours is instead of it. */
const never = 2 ** 31 - 1

const farewellMs = 1_000

const identity = { name: 'parley', version: '0.1.0' }

interface ActiveCall {
  readonly options: McpCallOptions
  readonly watch: ReturnType<typeof stopwatch>
}

export function mcpConnection(server: McpServer, options: McpConnectionOptions): McpConnection {
  const { log, connectTimeoutMs, memory = {} } = options
  const calls = new Set<ActiveCall>()
  let current: Promise<Client> | undefined
  let opening: Transport | undefined
  const closing = new AbortController()

  return {
    async tools(signal) {
      const client = await connected(signal)
      return (await client.listTools(undefined, { signal, timeout: connectTimeoutMs })).tools
    },

    async call(name, input, callOptions) {
      const watch = stopwatch(callOptions.timeoutMs, callOptions.signal)
      const active = { options: callOptions, watch }
      calls.add(active)
      try {
        return await callOnce(name, input, active).catch((reason: unknown) => {
          if (!hasForgottenUs(reason)) throw reason
          current = undefined
          return callOnce(name, input, active)
        })
      } catch (reason) {
        throw watch.reasonFor(reason)
      } finally {
        watch.end()
        calls.delete(active)
      }
    },

    async about(signal) {
      const client = await connected(signal)
      const { name, version } = client.getServerVersion() ?? {}
      const instructions = client.getInstructions()
      return {
        ...(name !== undefined ? { name } : {}),
        ...(version !== undefined ? { version } : {}),
        ...(instructions !== undefined ? { instructions } : {}),
      }
    },

    get isBusy() {
      return calls.size > 0
    },

    async close() {
      closing.abort(new Error('the connection was closed'))
      // A server that does not answer is not waited for.
      await opening?.close().catch(() => {})
      const client = await current?.catch(() => undefined)
      current = undefined
      if (client !== undefined) await leave(client)
    },
  }

  async function callOnce(name: string, input: Struct, { options: about, watch }: ActiveCall): Promise<CallToolResult> {
    const client = await connected(watch.signal)
    const { onProgress } = about
    return client.callTool(
      { name, arguments: { ...input } },
      {
        signal: watch.signal,
        timeout: never,
        ...(onProgress !== undefined ? { onprogress: (progress: Progress) => onProgress(progress) } : {}),
      },
    )
  }

  /** Whoever waits may leave; the connection is for the next one. */
  function connected(signal: AbortSignal): Promise<Client> {
    if (closing.signal.aborted) return Promise.reject(unavailable(closing.signal.reason))
    if (current === undefined) {
      const connecting = connect(() => void (current === connecting && (current = undefined)))
      current = connecting
    }
    return unlessAborted(current, signal)
  }

  async function connect(lost: () => void): Promise<Client> {
    try {
      // Some old servers do not survive the question which version they speak.
      const mayAskAgain = memory.prior === undefined && 'command' in server
      return await connectOnce(lost, memory.prior).catch((reason: unknown) => {
        if (!mayAskAgain || closing.signal.aborted) throw reason
        return connectOnce(lost, { kind: 'legacy' })
      })
    } catch (reason) {
      lost()
      throw unavailable(reason)
    }
  }

  async function connectOnce(lost: () => void, prior: PriorDiscovery | undefined): Promise<Client> {
    const probing = 'command' in server ? { probe: { timeoutMs: Math.min(probeMs, connectTimeoutMs) } } : {}
    const client = new Client(identity, {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: 'auto', ...probing },
    })
    const onerror = (cause: Error): void => log.debug('an MCP connection complains', { cause })
    Object.assign(client, { onclose: lost, onerror })
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => elicited(params, mcpReq.signal))
    const transport = transportTo(server, options)
    opening = transport
    try {
      await client.connect(transport, {
        timeout: connectTimeoutMs,
        signal: closing.signal,
        ...(prior !== undefined ? { prior } : {}),
      })
    } catch (reason) {
      await transport.close().catch(() => {})
      throw reason
    } finally {
      opening = undefined
    }
    remember(client)
    return client
  }

  function remember(client: Client): void {
    const discover = client.getDiscoverResult()
    memory.prior = discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover }
  }

  /** A question does not say which call it belongs to: all calls of a connection are of one caller, and the last is meant. */
  async function elicited(question: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult> {
    const asking = [...calls].findLast(({ options: about }) => about.onElicit !== undefined)
    if (asking?.options.onElicit === undefined) return { action: 'cancel' }
    asking.watch.pause()
    try {
      return await asking.options.onElicit(question, AbortSignal.any([signal, asking.watch.signal]))
    } finally {
      asking.watch.go()
    }
  }
}

function transportTo(server: McpServer, { fetch, log }: McpConnectionOptions): Transport {
  if ('command' in server) return programTransport(server, log)
  return new StreamableHTTPClientTransport(new URL(server.url), { fetch, requestInit: { headers: server.headers } })
}

/** Told, so that it need not keep the session; not waited for, if it does not hear. */
async function leave(client: Client): Promise<void> {
  const { transport } = client
  if (transport instanceof StreamableHTTPClientTransport) {
    await Promise.race([transport.terminateSession().catch(() => {}), sleep(farewellMs, undefined, { ref: false })])
  }
  await client.close()
}

/** A server that was restarted knows the session no more, and says so before it does anything; some with a 400. */
function hasForgottenUs(reason: unknown): boolean {
  if (!(reason instanceof SdkHttpError)) return false
  return reason.status === 404 || (reason.status === 400 && /session/i.test(reason.message))
}

const unavailable = (cause: unknown): A2AError =>
  new A2AError('AGENT_UNAVAILABLE', 'A tool server cannot be reached now', {}, { cause })
