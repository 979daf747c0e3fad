/** Opens an agent of the kind `openclaw`. Loaded with the first of them. */
import type { AgentServices, OpenAgent, PartialCard } from '../kind.ts'
import { openClawAgent } from './agent.ts'
import { createMessageCheck } from './check-message.ts'
import type { OpenClawTimes } from './run.ts'
import { deviceFromKey, loadDevice, createDeviceTokens, type Device } from './gateway/device.ts'
import { type OpenClawEntry } from './entry.ts'
import { type Gateway, shareGateway } from './gateway/gateway.ts'
import { checkHttpEndpoint } from './http-endpoint.ts'
import type { AgentSkill } from '@parley/a2a'
import type { OpenClawConnection } from './gateway/connection.ts'
import { asFields, listField, stringField, stringListField } from './gateway/frames.ts'
import type { GatewayResponse, GatewayFields } from './gateway/frames.ts'

export function openOpenClaw(entry: OpenClawEntry, services: AgentServices, times?: OpenClawTimes): OpenAgent {
  const gateway = entry.transport === 'http' ? undefined : gatewayOf(entry, services)
  const { check, close } = createMessageCheck(entry, gateway, services.fetch)
  // Not awaited: the first turn finds the connection, or the reason why there is none.
  gateway?.connection(AbortSignal.timeout(60_000)).catch(() => {})
  return {
    agent: openClawAgent({ entry, services, gateway, ...(times !== undefined ? { times } : {}) }),
    card: staticCard(entry),
    checkMessage: check,
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
    async close() {
      close()
      gateway?.close()
    },
  }
}

function gatewayOf(entry: OpenClawEntry, services: AgentServices): Gateway {
  const kv = services.kindKv ?? services.kv
  const deviceName = typeof entry.device === 'string' ? deviceFromKey(entry.device).id : String(entry.device)
  let device: Promise<Device | undefined> | undefined
  return shareGateway(kv, deviceName, {
    url: entry.url,
    credentials: { token: entry.token, password: entry.password },
    approvals: entry.approvals === 'caller',
    device: () => (device ??= deviceFor(entry, services)),
    tokens: createDeviceTokens(kv),
    log: services.log,
    jsonNodes: services.jsonNodes,
  })
}

async function deviceFor({ device }: OpenClawEntry, services: AgentServices): Promise<Device | undefined> {
  if (device === false) return undefined
  return device === true ? loadDevice(services.kindKv ?? services.kv) : deviceFromKey(device)
}

/** Text, images and common file types; not JSON, which would promise support for data parts (S4-10). */
const inputModes = [
  'text/*',
  'image/*',
  'audio/*',
  'video/*',
  'application/pdf',
  'application/zip',
  'application/octet-stream',
  'application/msword',
  'application/vnd.ms-excel',
  'application/vnd.ms-powerpoint',
  'application/vnd.openxmlformats-officedocument.*',
]

function staticCard({ agent, transport }: OpenClawEntry): PartialCard {
  return {
    description: `The agent ${agent} of an OpenClaw gateway`,
    // The HTTP endpoint does not accept files.
    inputModes: transport === 'http' ? ['text/plain', 'image/*'] : inputModes,
    outputModes: ['text/plain'],
    streaming: true,
  }
}

/** Reads the card fields from the gateway. No model is called. */
async function fetchOpenClawCard(connection: OpenClawConnection, entry: OpenClawEntry): Promise<PartialCard> {
  const about = { agentId: entry.agent }
  const [identity, skills, tools] = await Promise.all([
    connection.request('agent.identity.get', about),
    entry.liveSkills === 'none' ? [] : liveSkills(connection, about),
    entry.liveSkills === 'all' ? liveTools(connection, about) : [],
  ])
  const name = nameIn(identity)
  return {
    ...staticCard(entry),
    ...(name !== undefined ? { name } : {}),
    skills: byName([...skills, ...tools]),
  }
}

/** All agents without a configured name share one default name. */
function nameIn(identity: GatewayResponse): string | undefined {
  if (!identity.ok || identity.payload['nameSource'] === 'default') return undefined
  return stringField(identity.payload, 'name')
}

async function liveSkills(connection: OpenClawConnection, about: GatewayFields): Promise<readonly AgentSkill[]> {
  const status = await connection.request('skills.status', about)
  if (!status.ok) return configuredSkills(connection)
  return listField(status.payload, 'skills')
    .filter((skill) => skill['eligible'] === true && skill['disabled'] !== true)
    .flatMap((skill) => skillOf(stringField(skill, 'name'), stringField(skill, 'description'), 'openclaw'))
}

/** Older gateways only report which skills are configured, not whether they can be used (S4-14). */
async function configuredSkills(connection: OpenClawConnection): Promise<readonly AgentSkill[]> {
  const answer = await connection.request('config.get', {})
  const skills = asFields(asFields(answer.payload['config'] ?? answer.payload['parsed'])['skills'])
  const entries = Object.entries(asFields(skills['entries'])).filter(([, one]) => asFields(one)['enabled'] !== false)
  return [...entries.map(([name]) => name), ...stringListField(skills, 'allowBundled')].flatMap((name) =>
    skillOf(name, undefined, 'openclaw'),
  )
}

async function liveTools(connection: OpenClawConnection, about: GatewayFields): Promise<readonly AgentSkill[]> {
  const catalog = await connection.request('tools.catalog', about)
  return listField(catalog.payload, 'groups')
    .flatMap((group) => listField(group, 'tools'))
    .flatMap((tool) =>
      skillOf(stringField(tool, 'id'), stringField(tool, 'description'), 'tool', stringField(tool, 'label')),
    )
}

function skillOf(id: string | undefined, description: string | undefined, tag: string, label?: string): AgentSkill[] {
  if (id === undefined) return []
  const name = label ?? id
  return [{ id, name, description: description ?? name, tags: [tag] }]
}

/** Keeps the first skill of each name. */
function byName(skills: readonly AgentSkill[]): readonly AgentSkill[] {
  return skills.filter(({ name }, index) => skills.findIndex((other) => other.name === name) === index)
}
