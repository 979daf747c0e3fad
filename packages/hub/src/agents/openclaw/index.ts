/** The kind `openclaw`: an agent of an OpenClaw gateway, by WebSocket, or by HTTP where that cannot be had. */
import type { AgentKind, KindParts, OpenAgent } from '../kind.ts'
import { openclawAgent } from './agent.ts'
import type { Times } from './run.ts'
import { knownCard, lookAtCard } from './card.ts'
import { deviceOf, keptDevice, keptTokens } from './device.ts'
import type { Device } from './device.ts'
import { openclawEntry } from './entry.ts'
import type { OpenclawEntry } from './entry.ts'
import type { Gateway } from './gateway.ts'
import { shareGateway } from './gateways.ts'
import { checkHttp } from './http.ts'

export const openclawKind: AgentKind<OpenclawEntry> = {
  kind: 'openclaw',
  openAfterMs: 0,
  schema: openclawEntry,
  open: (entry, parts) => openOpenclaw(entry, parts),
  turnTimeoutMs: 600_000,
}

export function openOpenclaw(entry: OpenclawEntry, parts: KindParts, times?: Times): OpenAgent {
  const gateway = entry.transport === 'http' ? undefined : gatewayOf(entry, parts)
  // Nobody waits for it: the first turn finds a connection, or why there is none.
  gateway?.line(AbortSignal.timeout(60_000)).catch(() => {})
  return {
    agent: openclawAgent({ entry, parts, gateway, ...(times !== undefined ? { times } : {}) }),
    card: knownCard(entry),
    async look(signal) {
      if (gateway === undefined) return undefined
      return lookAtCard(await gateway.line(signal), entry)
    },
    async health(signal) {
      if (gateway === undefined) return checkHttp(entry, parts.fetch, signal)
      const line = await gateway.line(signal)
      const answer = await line.request('health', {})
      if (!answer.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`)
    },
    close: async () => gateway?.close(),
  }
}

function gatewayOf(entry: OpenclawEntry, parts: KindParts): Gateway {
  const notes = parts.kindNotes ?? parts.notes
  const deviceName = typeof entry.device === 'string' ? deviceOf(entry.device).id : String(entry.device)
  let device: Promise<Device | undefined> | undefined
  return shareGateway(notes, deviceName, {
    url: entry.url,
    credentials: { token: entry.token, password: entry.password },
    approvals: entry.approvals === 'caller',
    device: () => (device ??= deviceFor(entry, parts)),
    tokens: keptTokens(notes),
    log: parts.log,
    jsonNodes: parts.jsonNodes,
  })
}

async function deviceFor({ device }: OpenclawEntry, parts: KindParts): Promise<Device | undefined> {
  if (device === false) return undefined
  return device === true ? keptDevice(parts.kindNotes ?? parts.notes) : deviceOf(device)
}
