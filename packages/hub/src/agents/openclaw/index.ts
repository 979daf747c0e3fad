/** The kind `openclaw`: an agent of an OpenClaw gateway, over WebSocket, or over HTTP if that is unavailable. */
import type { AgentKind, AgentServices, OpenAgent } from '../kind.ts'
import { openClawAgent } from './agent.ts'
import type { OpenClawTimes } from './run.ts'
import { staticCard, fetchOpenClawCard } from './card.ts'
import { deviceFromKey, loadDevice, createDeviceTokens, type Device } from './gateway/device.ts'
import { openClawEntry, type OpenClawEntry } from './entry.ts'
import { type Gateway, shareGateway } from './gateway/gateway.ts'
import { checkHttpEndpoint } from './http-run.ts'

export const openClawKind: AgentKind<OpenClawEntry> = {
  kind: 'openclaw',
  openAfterMs: 0,
  schema: openClawEntry,
  open: (entry, services) => openOpenClaw(entry, services),
  turnTimeoutMs: 600_000,
}

export function openOpenClaw(entry: OpenClawEntry, services: AgentServices, times?: OpenClawTimes): OpenAgent {
  const gateway = entry.transport === 'http' ? undefined : gatewayOf(entry, services)
  // Not awaited: the first turn finds the connection, or the reason why there is none.
  gateway?.connection(AbortSignal.timeout(60_000)).catch(() => {})
  return {
    agent: openClawAgent({ entry, services, gateway, ...(times !== undefined ? { times } : {}) }),
    card: staticCard(entry),
    async fetchCard(signal) {
      if (gateway === undefined) return undefined
      return fetchOpenClawCard(await gateway.connection(signal), entry)
    },
    async health(signal) {
      if (gateway === undefined) return checkHttpEndpoint(entry, services.fetch, signal)
      const connection = await gateway.connection(signal)
      const answer = await connection.request('health', {})
      if (!answer.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`)
    },
    close: async () => gateway?.close(),
  }
}

function gatewayOf(entry: OpenClawEntry, services: AgentServices): Gateway {
  const notes = services.kindKv ?? services.kv
  const deviceName = typeof entry.device === 'string' ? deviceFromKey(entry.device).id : String(entry.device)
  let device: Promise<Device | undefined> | undefined
  return shareGateway(notes, deviceName, {
    url: entry.url,
    credentials: { token: entry.token, password: entry.password },
    approvals: entry.approvals === 'caller',
    device: () => (device ??= deviceFor(entry, services)),
    tokens: createDeviceTokens(notes),
    log: services.log,
    jsonNodes: services.jsonNodes,
  })
}

async function deviceFor({ device }: OpenClawEntry, services: AgentServices): Promise<Device | undefined> {
  if (device === false) return undefined
  return device === true ? loadDevice(services.kindKv ?? services.kv) : deviceFromKey(device)
}
