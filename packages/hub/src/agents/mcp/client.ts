/**
 * One client of the SDK, connected: with the version of the protocol that the server speaks, and with what the hub answers
 * when the server asks something. Sampling and roots are offered to nobody: a server that asks for them is refused.
 */
import { Client } from '@modelcontextprotocol/client'
import type { ElicitRequestParams, ElicitResult, PriorDiscovery, Transport } from '@modelcontextprotocol/client'
import type { AgentLog } from '@parley/a2a'
import type { Programs } from '../programs/leftovers.ts'
import { startProgram } from '../programs/program.ts'
import { httpTransport } from './http-transport.ts'
import type { MessageLimit } from './http-transport.ts'
import { programTransport } from './program-transport.ts'
import type { McpServer } from './server.ts'

export interface McpClientOptions {
  readonly fetch: typeof globalThis.fetch
  readonly log: AgentLog
  readonly connectTimeoutMs: number
  /** What was learned of the server before, shared by its connections. */
  readonly memory?: McpMemory
  /** How its program is started. Default: as any. */
  readonly start?: Programs['start']
  /** Told when the server says that it has other tools now. Left out: nobody listens. */
  readonly onToolsChanged?: () => void
}

export interface McpMemory {
  prior?: PriorDiscovery
}

export interface ClientParts {
  readonly limit: MessageLimit
  /** Ends the attempt. */
  readonly signal: AbortSignal
  /** Left out: the server is told that nobody can be asked. */
  readonly onElicit?: ((question: ElicitRequestParams, signal: AbortSignal) => Promise<ElicitResult>) | undefined
  onOpening(transport: Transport | undefined): void
  onClose(): void
}

/** Old servers may not answer what they do not know. */
const probeMs = 3_000
/** Several tools that come at once are one change. */
const settleMs = 100

const identity = { name: 'parley', version: '0.1.0' }

export async function openClient(server: McpServer, options: McpClientOptions, parts: ClientParts): Promise<Client> {
  const { memory = {} } = options
  // Some old servers do not survive the question which version they speak.
  const mayAskAgain = memory.prior === undefined && 'command' in server
  const client = await connect(server, options, parts, memory.prior).catch((reason: unknown) => {
    if (!mayAskAgain || parts.signal.aborted) throw reason
    return connect(server, options, parts, { kind: 'legacy' })
  })
  const discover = client.getDiscoverResult()
  memory.prior = discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover }
  return client
}

async function connect(
  server: McpServer,
  options: McpClientOptions,
  parts: ClientParts,
  prior: PriorDiscovery | undefined,
): Promise<Client> {
  const client = newClient(server, options, parts)
  const transport = transportTo(server, options, parts)
  parts.onOpening(transport)
  try {
    await client.connect(transport, {
      timeout: options.connectTimeoutMs,
      signal: parts.signal,
      ...(prior !== undefined ? { prior } : {}),
    })
    return client
  } catch (reason) {
    await transport.close().catch(() => {})
    throw reason
  } finally {
    parts.onOpening(undefined)
  }
}

function newClient(server: McpServer, options: McpClientOptions, { onElicit, onClose }: ClientParts): Client {
  const { log, connectTimeoutMs, onToolsChanged } = options
  const probing = 'command' in server ? { probe: { timeoutMs: Math.min(probeMs, connectTimeoutMs) } } : {}
  const watching = { autoRefresh: false, debounceMs: settleMs, onChanged: () => onToolsChanged?.() }
  const client = new Client(identity, {
    capabilities: onElicit === undefined ? {} : { elicitation: { form: {}, url: {} } },
    versionNegotiation: { mode: 'auto', ...probing },
    ...(onToolsChanged !== undefined ? { listChanged: { tools: watching } } : {}),
  })
  const onerror = (cause: Error): void => log.debug('an MCP connection complains', { cause })
  Object.assign(client, { onclose: onClose, onerror })
  if (onElicit !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => onElicit(params, mcpReq.signal))
  }
  return client
}

function transportTo(server: McpServer, options: McpClientOptions, { limit }: ClientParts): Transport {
  const { fetch, log, start = startProgram } = options
  return 'command' in server ? programTransport(server, { start, log, limit }) : httpTransport(server, fetch, limit)
}
