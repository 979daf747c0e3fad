/**
 * One connected client of the SDK: negotiates the protocol version and answers requests of the server. Sampling and roots
 * are not supported: a server that requests them is refused.
 */
import { Client, deserializeMessage, serializeMessage } from '@modelcontextprotocol/client'
import type {
  ElicitRequestParams,
  ElicitResult,
  PriorDiscovery,
  Transport,
  JSONRPCMessage,
} from '@modelcontextprotocol/client'
import type { AgentLog } from '@parley/a2a'
import type { ProgramManager } from '../programs/program-manager.ts'
import { startProgram, type ProgramExit, type Program } from '../programs/program.ts'
import { createHttpTransport, type MessageLimit } from './http-transport.ts'
import type { McpServer } from './server.ts'
import { exceedsJsonNodes } from '@parley/a2a/internal'
import { splitLines } from '../programs/lines.ts'
import { hubVersion } from '../../config/hub-version.ts'

export interface McpClientOptions {
  readonly fetch: typeof globalThis.fetch
  readonly log: AgentLog
  readonly connectTimeoutMs: number
  /** Discovery results of the server, shared by its connections. */
  readonly discoveryCache?: McpDiscoveryCache
  /** Starts its program. Default: an unmanaged process. */
  readonly start?: ProgramManager['start']
  /** Called when the server reports that its tools changed. Optional. */
  readonly onToolsChanged?: () => void
}

export interface McpDiscoveryCache {
  prior?: PriorDiscovery
}

export interface McpClientDeps {
  readonly limit: MessageLimit
  /** Aborts the attempt. */
  readonly signal: AbortSignal
  /** Answers questions of the server. If omitted, the client does not offer elicitation. */
  readonly onElicit?: ((question: ElicitRequestParams, signal: AbortSignal) => Promise<ElicitResult>) | undefined
  onOpening(transport: Transport | undefined): void
  onClose(): void
}

/** Old servers may not answer unknown requests. */
const probeMs = 3_000
/** Several tool changes at once count as one. */
const settleMs = 100

const identity = { name: 'parley', version: hubVersion() }

export async function connectMcpClient(
  server: McpServer,
  options: McpClientOptions,
  deps: McpClientDeps,
): Promise<Client> {
  const { discoveryCache = {} } = options
  // Some old servers crash on the version request.
  const mayAskAgain = discoveryCache.prior === undefined && 'command' in server
  const client = await connect(server, options, deps, discoveryCache.prior).catch((reason: unknown) => {
    if (!mayAskAgain || deps.signal.aborted) throw reason
    return connect(server, options, deps, { kind: 'legacy' })
  })
  const discover = client.getDiscoverResult()
  discoveryCache.prior = discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover }
  return client
}

async function connect(
  server: McpServer,
  options: McpClientOptions,
  deps: McpClientDeps,
  prior: PriorDiscovery | undefined,
): Promise<Client> {
  const client = newClient(server, options, deps)
  const transport = transportTo(server, options, deps)
  deps.onOpening(transport)
  try {
    await client.connect(transport, {
      timeout: options.connectTimeoutMs,
      signal: deps.signal,
      ...(prior !== undefined ? { prior } : {}),
    })
    return client
  } catch (reason) {
    await transport.close().catch(() => {})
    throw reason
  } finally {
    deps.onOpening(undefined)
  }
}

function newClient(server: McpServer, options: McpClientOptions, { onElicit, onClose }: McpClientDeps): Client {
  const { log, connectTimeoutMs, onToolsChanged } = options
  const probing = 'command' in server ? { probe: { timeoutMs: Math.min(probeMs, connectTimeoutMs) } } : {}
  const watching = { autoRefresh: false, debounceMs: settleMs, onChanged: () => onToolsChanged?.() }
  const client = new Client(identity, {
    capabilities: onElicit === undefined ? {} : { elicitation: { form: {}, url: {} } },
    versionNegotiation: { mode: 'auto', ...probing },
    ...(onToolsChanged !== undefined ? { listChanged: { tools: watching } } : {}),
  })
  const onerror = (cause: Error): void => log.debug('an MCP connection reported an error', { cause })
  Object.assign(client, { onclose: onClose, onerror })
  if (onElicit !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => onElicit(params, mcpReq.signal))
  }
  return client
}

function transportTo(server: McpServer, options: McpClientOptions, { limit }: McpClientDeps): Transport {
  const { fetch, log, start = startProgram } = options
  return 'command' in server
    ? createProgramTransport(server, { start, log, limit })
    : createHttpTransport(server, fetch, limit)
}

const graceMs = 2_000

interface ProgramTransportDeps {
  readonly start: ProgramManager['start']
  readonly log: AgentLog
  readonly limit: MessageLimit
}

/**
 * MCP over stdin and stdout of a program. The SDK's own transport is not used for two reasons. The child processes of a
 * server must end with it: the program leads a process group that is ended as a whole. And the SDK concatenates the buffer
 * with each chunk, which copies a message of 20 MB a few hundred times.
 */
function createProgramTransport(
  server: Extract<McpServer, { command: unknown }>,
  { start, log, limit }: ProgramTransportDeps,
): Transport {
  let program: Program | undefined
  const transport: Transport & { readonly stderr: null; readonly pid: number | null } = {
    // By these two properties the SDK recognizes a program, and how programs behave.
    stderr: null,
    get pid() {
      return program?.pid ?? null
    },
    async start() {
      program = start({
        ...server,
        graceMs,
        onError: (line) => log.debug('an MCP server wrote to stderr', { server: server.command[0], line }),
      })
      if (program.pid === undefined) throw await startError(program)
      void read(program)
    },
    async send(message: JSONRPCMessage) {
      if (program === undefined) throw new Error('the MCP server is not running')
      program.write(serializeMessage(message))
    },
    async close() {
      await program?.stop()
    },
  }
  return transport

  async function read({ output, exited, stop }: Program): Promise<void> {
    for await (const { text, endsAt } of splitLines(output, limit.bytes)) {
      const by = endsAt === 'limit' ? 'bytes' : exceedsJsonNodes(text, limit.nodes) ? 'nodes' : undefined
      if (by !== undefined) {
        transport.onerror?.(limit.exceeded(by))
        await stop()
        break
      }
      if (text.trim() !== '') receive(text)
    }
    log.debug('an MCP server has ended', { server: server.command[0], exit: await exited })
    transport.onclose?.()
  }

  function receive(text: string): void {
    try {
      transport.onmessage?.(deserializeMessage(text))
    } catch (reason) {
      // A line that is not a message: many servers print to stdout by mistake.
      transport.onerror?.(reason as Error)
    }
  }
}

async function startError({ exited }: Program): Promise<Error> {
  const exit: ProgramExit = await exited
  return 'error' in exit ? exit.error : new Error('the MCP server exited at startup')
}
