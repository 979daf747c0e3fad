/**
 * A connection to an MCP server, opened on first use and again after it was lost. A call is never repeated automatically,
 * unless the server said that it did nothing: a tool may have done its work before its response was lost.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  SdkHttpError,
  type CallToolResult,
  type Client,
  type ElicitRequestParams,
  type ElicitResult,
  type GetPromptResult,
  type Implementation,
  type Progress,
  type Prompt,
  type ReadResourceResult,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client'
import { A2AError, type Struct } from '@parley/a2a'
import { abortable, linkSignals, omitUndefined, defaultJsonNodes } from '@parley/a2a/internal'
import { createPausableTimeout } from '../timeouts.ts'
import { connectMcpClient, type McpClientOptions } from './client.ts'
import type { McpHttpTransport } from './http-transport.ts'
import type { McpServer } from './server.ts'

export type { McpDiscoveryCache } from './client.ts'

export interface McpConnection {
  /** The tools that the server lists now. */
  tools(signal: AbortSignal): Promise<readonly Tool[]>
  call(name: string, input: Struct, options: McpCallOptions): Promise<CallToolResult>
  prompts(signal: AbortSignal): Promise<readonly Prompt[]>
  prompt(name: string, input: Readonly<Record<string, string>>, signal: AbortSignal): Promise<GetPromptResult>
  resource(uri: string, signal: AbortSignal): Promise<ReadResourceResult>
  /** The server's description of itself. */
  serverInfo(signal: AbortSignal): Promise<McpServerInfo>
  /** Resolves when the server has answered. */
  ping(signal: AbortSignal): Promise<void>
  /** Whether the server announces tool changes on this connection. */
  readonly hasToolChangeNotifications: boolean
  /** Closes the connection permanently and ends the program with all its child processes. */
  close(): Promise<void>
}

export interface McpServerInfo extends Partial<Implementation> {
  readonly instructions?: string
}

export interface McpCallOptions {
  readonly signal: AbortSignal
  /** Timeout of the call; pauses while a question of the server is open. `Infinity` means none. */
  readonly timeoutMs: number
  onProgress?(progress: Progress): void
  /** Sent with the call (W3C Trace Context). */
  readonly trace?: Readonly<Record<string, string>>
  /** The server asks the user. If omitted, the question is canceled. */
  onElicit?(question: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult>
}

export interface McpConnectionOptions extends McpClientOptions {
  /** Limit of one message of the server. Default 20 MB. */
  readonly limitBytes?: number
  /** Limit of JSON values in one message of the server. Default 100,000. */
  readonly jsonNodes?: number
  /**
   * Whether the server may ask callers. Not if several callers share the connection, because a question does not name its
   * call. Default: true.
   */
  readonly canElicit?: boolean
}

/** Disables the SDK's own timeout, which would not pause; ours replaces it. */
const maxTimerMs = 2 ** 31 - 1

const endSessionMs = 1_000

interface ActiveCall {
  readonly options: McpCallOptions
  readonly watch: ReturnType<typeof createPausableTimeout>
}

export function createMcpConnection(server: McpServer, options: McpConnectionOptions): McpConnection {
  const {
    connectTimeoutMs,
    onToolsChanged,
    limitBytes = 20_000_000,
    jsonNodes = defaultJsonNodes,
    canElicit = true,
  } = options
  const calls = new Set<ActiveCall>()
  let current: Promise<Client> | undefined
  let connected: Client | undefined
  let opening: Transport | undefined
  let oversized: A2AError | undefined
  const closing = new AbortController()
  const limit = {
    bytes: limitBytes,
    nodes: jsonNodes,
    exceeded: (by: 'bytes' | 'nodes') =>
      (oversized = tooLarge(by === 'bytes' ? `${limitBytes} bytes` : `${jsonNodes} JSON values`)),
  }

  return {
    tools: async (signal) => (await ask(signal, (client, how) => client.listTools(undefined, how))).tools,
    prompts: async (signal) => (await ask(signal, (client, how) => client.listPrompts(undefined, how))).prompts,
    prompt: (name, input, signal) =>
      ask(signal, (client, how) => client.getPrompt({ name, arguments: { ...input } }, how)),
    resource: (uri, signal) => ask(signal, (client, how) => client.readResource({ uri }, how)),
    async ping(signal) {
      // The newest protocol version has no ping.
      await ask<unknown>(signal, (client, how) =>
        client.getProtocolEra() === 'modern' ? client.discover(how) : client.ping(how),
      )
    },

    async call(name, input, callOptions) {
      const watch = createPausableTimeout(callOptions.timeoutMs, callOptions.signal)
      const active = { options: callOptions, watch }
      calls.add(active)
      try {
        return await retryLostSession(() => callOnce(name, input, active))
      } catch (reason) {
        throw watch.errorFor(oversize() ?? reason)
      } finally {
        watch.end()
        calls.delete(active)
      }
    },

    async serverInfo(signal) {
      const client = await connection(signal)
      const instructions = client.getInstructions()
      return { ...client.getServerVersion(), ...omitUndefined({ instructions }) }
    },

    get hasToolChangeNotifications() {
      return onToolsChanged !== undefined && connected?.getServerCapabilities()?.tools?.listChanged === true
    },

    async close() {
      closing.abort(new Error('the connection was closed'))
      // Does not wait for a server that does not answer.
      await opening?.close().catch(() => {})
      const client = await current?.catch(() => undefined)
      current = undefined
      if (client !== undefined) await endSession(client)
    },
  }

  type How = { readonly signal: AbortSignal; readonly timeout: number }

  /** A request without side effects, which may be repeated. */
  async function ask<T>(signal: AbortSignal, work: (client: Client, how: How) => Promise<T>): Promise<T> {
    try {
      return await retryLostSession(async () => work(await connection(signal), { signal, timeout: connectTimeoutMs }))
    } catch (reason) {
      signal.throwIfAborted()
      throw oversize() ?? reason
    }
  }

  async function retryLostSession<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (reason) {
      if (!isSessionLost(reason)) throw reason
      current = undefined
      return work()
    }
  }

  async function callOnce(name: string, input: Struct, { options: about, watch }: ActiveCall): Promise<CallToolResult> {
    const client = await connection(watch.signal)
    const { onProgress, trace } = about
    return client.callTool(
      { name, arguments: { ...input }, ...(trace !== undefined ? { _meta: { ...trace } } : {}) },
      {
        signal: watch.signal,
        timeout: maxTimerMs,
        ...(onProgress !== undefined
          ? { onprogress: (progress: Progress) => void (isServerProgress(progress) && onProgress(progress)) }
          : {}),
      },
    )
  }

  /** A waiting caller may abort; the connection stays for the next one. */
  function connection(signal: AbortSignal): Promise<Client> {
    if (closing.signal.aborted) return Promise.reject(unavailable(closing.signal.reason))
    if (current === undefined) {
      const connecting = connect(() => void (current === connecting && (current = connected = undefined)))
      current = connecting
    }
    return abortable(signal, current)
  }

  async function connect(onClose: () => void): Promise<Client> {
    try {
      const onOpening = (transport: Transport | undefined): void => void (opening = transport)
      const parts = { limit, signal: closing.signal, onOpening, onClose, onElicit: canElicit ? elicited : undefined }
      connected = await connectMcpClient(server, options, parts)
      return connected
    } catch (reason) {
      onClose()
      throw unavailable(reason)
    }
  }

  /** A question does not name its call. All calls of a connection are from one caller, so the last one is meant. */
  async function elicited(question: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult> {
    const asking = [...calls].findLast(({ options: about }) => about.onElicit !== undefined)
    if (asking?.options.onElicit === undefined) return { action: 'cancel' }
    asking.watch.pause()
    const either = linkSignals([signal, asking.watch.signal])
    try {
      return await asking.options.onElicit(question, either.signal)
    } finally {
      either.end()
      asking.watch.resume()
    }
  }

  /** An oversized message cannot be assigned to a call, so the next failing call reports it. */
  function oversize(): A2AError | undefined {
    const reason = oversized
    oversized = undefined
    return reason
  }
}

/** Filters the progress with which the SDK reports its own question; the caller already gets that question. */
function isServerProgress({ message }: Progress): boolean {
  return message?.startsWith("Fulfilling input required by 'tools/call'") !== true
}

/** Asks the server to drop the session; does not wait if the server does not answer. */
async function endSession(client: Client): Promise<void> {
  const transport = client.transport as McpHttpTransport | undefined
  if (transport?.endSession !== undefined) {
    await Promise.race([transport.endSession().catch(() => {}), sleep(endSessionMs, undefined, { ref: false })])
  }
  await client.close()
}

/** A restarted server rejects the session before it does anything; some use status 400. */
function isSessionLost(reason: unknown): boolean {
  if (!(reason instanceof SdkHttpError)) return false
  return reason.status === 404 || (reason.status === 400 && /session/i.test(reason.message))
}

const unavailable = (cause: unknown): A2AError =>
  new A2AError('AGENT_UNAVAILABLE', 'A tool server is unavailable now', {}, { cause })

const tooLarge = (most: string): A2AError =>
  new A2AError('PAYLOAD_TOO_LARGE', `The response of a tool server exceeds ${most}`)
