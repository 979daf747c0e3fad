/** An MCP server: it says what it is when it is greeted, at an address or as a program. None of its tools is called. */
import { SdkHttpError } from '@modelcontextprotocol/client'
import { mcpConnection } from '../mcp/connection.ts'
import type { McpAbout } from '../mcp/connection.ts'
import type { McpServer } from '../mcp/server.ts'
import { addressIn, isHttp, written } from './address.ts'
import type { DetectParts, Detected, Detector, Target } from './detect.ts'
import type { DetectTimes } from './times.ts'
import { nameFrom } from './name.ts'
import { isCommand, isFetched, programIn } from './program.ts'
import { quietLog } from './quiet-log.ts'
import { timeLimit } from './time-limit.ts'
import type { TimeLimit } from './time-limit.ts'

export function mcpDetector(times: DetectTimes): Detector {
  return {
    kind: 'mcp',
    applies(target) {
      const url = addressIn(target)
      return url === undefined ? isCommand(target) : isHttp(url)
    },
    detect(target, parts) {
      const url = addressIn(target)
      return url === undefined ? tryProgram(target, parts) : tryAddress(url, parts)
    },
  }

  async function tryProgram(target: Target, parts: DetectParts): Promise<Detected> {
    const { command, env, entry, name } = await programIn(target, parts)
    const limit = timeLimit(isFetched(target) ? times.fetchedMs : times.programMs, parts.signal)
    parts.say(`it is started to see what it speaks: it has ${limit.ms / 1_000} s to say so`)
    const met = await meet({ command, cwd: parts.cwd, env }, parts, limit)
    return 'why' in met ? { reasons: [met.why] } : found(met, entry, name)
  }

  async function tryAddress(url: URL, parts: DetectParts): Promise<Detected> {
    const { token } = parts
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token.value}` }
    const reasons: string[] = []
    for (const address of addressesOf(url)) {
      const limit = timeLimit(times.httpMs, parts.signal)
      const met = await meet({ url: address, headers }, parts, limit)
      const bearer = token === undefined ? {} : { bearer: token.reference }
      if (!('why' in met)) return found(met, { url: address, ...bearer }, nameFrom(url.hostname))
      reasons.push(met.why)
    }
    return { reasons: [...new Set(reasons)] }
  }
}

/** Most servers are at `/mcp`; whoever gives only a host means that. */
function addressesOf(url: URL): readonly string[] {
  const given = url.search === '' ? written(url) : url.href
  return url.pathname === '/' && url.search === '' ? [given, `${given}/mcp`] : [given]
}

interface Met {
  readonly about: McpAbout
  readonly tools: number
}

async function meet(server: McpServer, { fetch }: DetectParts, limit: TimeLimit): Promise<Met | { why: string }> {
  const log = quietLog()
  const connection = mcpConnection(server, { fetch, log, connectTimeoutMs: limit.ms })
  try {
    const about = await connection.about(limit.signal)
    const tools = await connection.tools(limit.signal)
    return { about, tools: tools.length }
  } catch (reason) {
    const said = log.lastLine === undefined || !('command' in server) ? '' : ` (it says: ${log.lastLine})`
    return { why: `${refusalIn(reason) ?? limit.reasonFor(reason)}${said}` }
  } finally {
    await connection.close()
  }
}

function found({ about, tools }: Met, entry: Readonly<Record<string, unknown>>, name: string): Detected {
  const shown = about.title ?? about.name ?? name
  return {
    kind: 'mcp',
    name: nameFrom(about.name, name),
    entry,
    notes: [`${shown} has ${tools} ${tools === 1 ? 'tool' : 'tools'}: \`allow\` and \`deny\` say which may be called.`],
  }
}

function refusalIn(reason: unknown): string | undefined {
  const cause = reason instanceof Error && reason.cause !== undefined ? reason.cause : reason
  if (!(cause instanceof SdkHttpError)) return undefined
  const { status } = cause
  if (status === 401 || status === 403) return `it wants credentials (${status}): give a token with --token-env`
  return `it does not answer as an MCP server does (${status})`
}
