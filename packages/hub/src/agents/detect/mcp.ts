/** Detects an MCP server by its response to the handshake, at an address or as a program. No tool is called. */
import { SdkHttpError } from '@modelcontextprotocol/client'
import { createMcpConnection, type McpServerInfo } from '../mcp/connection.ts'
import type { McpServer } from '../mcp/server.ts'
import { targetUrl, isHttpUrl, urlWithoutQuery, createTimeLimit, agentNameFrom } from './detect.ts'
import type { DetectDeps, DetectorResult, Detector, DetectTarget, DetectTimes, TimeLimit } from './detect.ts'
import { requiresAuthentication, type Diagnosis } from './diagnosis.ts'
import { isCommand, isPackageRunner, resolveProgram, createQuietLog } from './program.ts'

export function mcpDetector(times: DetectTimes): Detector {
  return {
    kind: 'mcp',
    applies(target) {
      const url = targetUrl(target)
      return url === undefined ? isCommand(target) : isHttpUrl(url)
    },
    detect(target, deps) {
      const url = targetUrl(target)
      return url === undefined ? tryProgram(target, deps) : tryAddress(url, deps)
    },
  }

  async function tryProgram(target: DetectTarget, deps: DetectDeps): Promise<DetectorResult> {
    const { command, env, entry, name } = await resolveProgram(target, deps)
    const limit = createTimeLimit(isPackageRunner(target) ? times.fetchedMs : times.programMs, deps.signal)
    deps.onProgress(`starting it to detect its protocol, for at most ${limit.ms / 1_000} s`)
    const probed = await probeServer({ command, cwd: deps.cwd, env }, deps, limit)
    return 'why' in probed ? { reasons: [probed.why] } : detectionOf(probed, entry, name)
  }

  async function tryAddress(url: URL, deps: DetectDeps): Promise<DetectorResult> {
    const { token } = deps
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token.value}` }
    const limit = createTimeLimit(times.httpMs, deps.signal)
    const attempts = candidateUrls(url).map((address) => ({
      address,
      probing: probeServer({ url: address, headers }, deps, limit),
    }))
    const failures: FailedProbe[] = []
    for (const { address, probing } of attempts) {
      const probed = await probing
      const bearer = token === undefined ? {} : { bearer: token.reference }
      if (!('why' in probed)) return detectionOf(probed, { url: address, ...bearer }, agentNameFrom(url.hostname))
      failures.push(probed)
    }
    return {
      reasons: [...new Set(failures.map(({ why }) => why))],
      diagnosis: failures.find(({ diagnosis }) => diagnosis !== undefined)?.diagnosis,
    }
  }
}

/** Most servers use `/mcp`, so that path is tried if the user gives only a host. */
function candidateUrls(url: URL): readonly string[] {
  const given = url.search === '' ? urlWithoutQuery(url) : url.href
  return url.pathname === '/' && url.search === '' ? [given, `${given}/mcp`] : [given]
}

interface ProbedServer {
  readonly about: McpServerInfo
  readonly tools: number
}

interface FailedProbe {
  readonly why: string
  readonly diagnosis: Diagnosis | undefined
}

async function probeServer(
  server: McpServer,
  { fetch }: DetectDeps,
  limit: TimeLimit,
): Promise<ProbedServer | FailedProbe> {
  const log = createQuietLog()
  const connection = createMcpConnection(server, { fetch, log, connectTimeoutMs: limit.ms })
  try {
    const about = await connection.serverInfo(limit.signal)
    const tools = await connection.tools(limit.signal)
    return { about, tools: tools.length }
  } catch (reason) {
    const said = log.lastLine === undefined || !('command' in server) ? '' : ` (output: ${log.lastLine})`
    const status = httpStatus(reason)
    const diagnosis = status === 401 || status === 403 ? requiresAuthentication(status) : limit.diagnosis
    return { why: `${httpRejection(status) ?? limit.reasonFor(reason)}${said}`, diagnosis }
  } finally {
    await connection.close()
  }
}

function detectionOf(
  { about, tools }: ProbedServer,
  entry: Readonly<Record<string, unknown>>,
  name: string,
): DetectorResult {
  const shown = about.title ?? about.name ?? name
  return {
    kind: 'mcp',
    name: agentNameFrom(about.name, name),
    entry,
    notes: [
      `${shown} has ${tools} ${tools === 1 ? 'tool' : 'tools'}: \`allow\` and \`deny\` restrict which may be called.`,
    ],
  }
}

function httpStatus(reason: unknown): number | undefined {
  const cause = reason instanceof Error && reason.cause !== undefined ? reason.cause : reason
  return cause instanceof SdkHttpError ? cause.status : undefined
}

function httpRejection(status: number | undefined): string | undefined {
  if (status === undefined) return undefined
  if (status === 401 || status === 403) return `it requires credentials (${status})`
  return `it does not respond like an MCP server (${status})`
}
