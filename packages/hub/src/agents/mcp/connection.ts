/**
 * A connection to an MCP server: made when it is first needed, and again when it is lost. Nothing of a call is ever
 * repeated by itself, unless the server said that it has done nothing: a tool may have done its work before its answer
 * got lost.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { SdkHttpError } from '@modelcontextprotocol/client'
import type {
  CallToolResult,
  Client,
  ElicitRequestParams,
  ElicitResult,
  GetPromptResult,
  Implementation,
  Progress,
  Prompt,
  ReadResourceResult,
  Tool,
  Transport,
} from '@modelcontextprotocol/client'
import { A2AError, linkSignals } from '@parley/a2a'
import type { Struct } from '@parley/a2a'
import { defaultJsonNodes } from '@parley/a2a/server'
import { stopwatch } from '../stopwatch.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { openClient } from './client.ts'
import type { McpClientOptions } from './client.ts'
import type { HttpTransport } from './http-transport.ts'
import type { McpServer } from './server.ts'

export type { McpMemory } from './client.ts'

export interface McpConnection {
  /** As the server lists them now. */
  tools(signal: AbortSignal): Promise<readonly Tool[]>
  call(name: string, input: Struct, options: McpCallOptions): Promise<CallToolResult>
  prompts(signal: AbortSignal): Promise<readonly Prompt[]>
  prompt(name: string, input: Readonly<Record<string, string>>, signal: AbortSignal): Promise<GetPromptResult>
  resource(uri: string, signal: AbortSignal): Promise<ReadResourceResult>
  /** What the server says of itself. */
  about(signal: AbortSignal): Promise<McpAbout>
  /** Resolves when the server has answered. */
  ping(signal: AbortSignal): Promise<void>
  /** Whether the server would tell over this connection that it has other tools. */
  readonly isTold: boolean
  /** For good: the program is ended with all that it started. */
  close(): Promise<void>
}

export interface McpAbout extends Partial<Implementation> {
  readonly instructions?: string
}

export interface McpCallOptions {
  readonly signal: AbortSignal
  /** The time that somebody takes to answer the server's question does not count. `Infinity` is no limit. */
  readonly timeoutMs: number
  onProgress?(progress: Progress): void
  /** Told with the call (W3C Trace Context). */
  readonly trace?: Readonly<Record<string, string>>
  /** The server asks the person at the other end. Left out: it is told that nobody is there. */
  onElicit?(question: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult>
}

export interface McpConnectionOptions extends McpClientOptions {
  /** Of one message of the server's. Default 20 MB. */
  readonly limitBytes?: number
  /** JSON values in one message of the server's. Default 100,000. */
  readonly jsonNodes?: number
  /** Whether the server may ask those who call. Not where several do: it would not say whom it means. Default: yes. */
  readonly mayAsk?: boolean
}

/** The SDK's own limit, which would count what must not count: ours is instead of it. */
const never = 2 ** 31 - 1

const farewellMs = 1_000

interface ActiveCall {
  readonly options: McpCallOptions
  readonly watch: ReturnType<typeof stopwatch>
}

export function mcpConnection(server: McpServer, options: McpConnectionOptions): McpConnection {
  const {
    connectTimeoutMs,
    onToolsChanged,
    limitBytes = 20_000_000,
    jsonNodes = defaultJsonNodes,
    mayAsk = true,
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
      // The newest version of the protocol has no ping any more.
      await ask<unknown>(signal, (client, how) =>
        client.getProtocolEra() === 'modern' ? client.discover(how) : client.ping(how),
      )
    },

    async call(name, input, callOptions) {
      const watch = stopwatch(callOptions.timeoutMs, callOptions.signal)
      const active = { options: callOptions, watch }
      calls.add(active)
      try {
        return await onceMore(() => callOnce(name, input, active))
      } catch (reason) {
        throw watch.reasonFor(oversize() ?? reason)
      } finally {
        watch.end()
        calls.delete(active)
      }
    },

    async about(signal) {
      const client = await connection(signal)
      const instructions = client.getInstructions()
      return { ...client.getServerVersion(), ...(instructions !== undefined ? { instructions } : {}) }
    },

    get isTold() {
      return onToolsChanged !== undefined && connected?.getServerCapabilities()?.tools?.listChanged === true
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

  type How = { readonly signal: AbortSignal; readonly timeout: number }

  /** What does nothing at the server: it may be asked again. */
  async function ask<T>(signal: AbortSignal, work: (client: Client, how: How) => Promise<T>): Promise<T> {
    try {
      return await onceMore(async () => work(await connection(signal), { signal, timeout: connectTimeoutMs }))
    } catch (reason) {
      signal.throwIfAborted()
      throw oversize() ?? reason
    }
  }

  async function onceMore<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (reason) {
      if (!hasForgottenUs(reason)) throw reason
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
        timeout: never,
        ...(onProgress !== undefined
          ? { onprogress: (told: Progress) => void (isOfServer(told) && onProgress(told)) }
          : {}),
      },
    )
  }

  /** Whoever waits may leave; the connection is for the next one. */
  function connection(signal: AbortSignal): Promise<Client> {
    if (closing.signal.aborted) return Promise.reject(unavailable(closing.signal.reason))
    if (current === undefined) {
      const connecting = connect(() => void (current === connecting && (current = connected = undefined)))
      current = connecting
    }
    return unlessAborted(current, signal)
  }

  async function connect(onClose: () => void): Promise<Client> {
    try {
      const onOpening = (transport: Transport | undefined): void => void (opening = transport)
      const parts = { limit, signal: closing.signal, onOpening, onClose, onElicit: mayAsk ? elicited : undefined }
      connected = await openClient(server, options, parts)
      return connected
    } catch (reason) {
      onClose()
      throw unavailable(reason)
    }
  }

  /** A question does not say which call it belongs to: all calls of a connection are of one caller, and the last is meant. */
  async function elicited(question: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult> {
    const asking = [...calls].findLast(({ options: about }) => about.onElicit !== undefined)
    if (asking?.options.onElicit === undefined) return { action: 'cancel' }
    asking.watch.pause()
    const either = linkSignals([signal, asking.watch.signal])
    try {
      return await asking.options.onElicit(question, either.signal)
    } finally {
      either.end()
      asking.watch.go()
    }
  }

  /** What was too large cannot say whose it was; whoever fails next is told. */
  function oversize(): A2AError | undefined {
    const reason = oversized
    oversized = undefined
    return reason
  }
}

/** The SDK tells in the same way that it asks somebody, which whoever is asked knows. */
function isOfServer({ message }: Progress): boolean {
  return message?.startsWith("Fulfilling input required by 'tools/call'") !== true
}

/** Told, so that it need not keep the session; not waited for, if it does not hear. */
async function leave(client: Client): Promise<void> {
  const transport = client.transport as HttpTransport | undefined
  if (transport?.leave !== undefined) {
    await Promise.race([transport.leave().catch(() => {}), sleep(farewellMs, undefined, { ref: false })])
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

const tooLarge = (most: string): A2AError =>
  new A2AError('PAYLOAD_TOO_LARGE', `A tool server answered with more than the ${most} that are taken here`)
