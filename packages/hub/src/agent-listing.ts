/** The agents as whoever runs the hub sees them: what each is, where it is, whether it can be reached, and if not, why. */
import type { AgentStatus, Registry } from './registry.ts'

export interface ListedAgent {
  readonly name: string
  readonly kind: string
  readonly state: 'open' | 'unavailable' | 'unreachable'
  readonly trouble?: string
  readonly title?: string
  readonly description?: string
  readonly url: string
  readonly card: string
  readonly skills: readonly string[]
}

/** How long what is behind an agent may take to say that it is there. */
const healthMs = 3_000

export function listAgents(registry: Registry, url: string | undefined): Promise<readonly ListedAgent[]> {
  const all = registry.names().flatMap((name) => registry.status(name) ?? [])
  return Promise.all(all.map(async (status) => listed(status, await healthOf(registry, status.name), url ?? '')))
}

function listed(
  { name, kind, state, trouble, settings }: AgentStatus,
  ill: string | undefined,
  base: string,
): ListedAgent {
  const { name: title, description, skills = [] } = settings
  const why = trouble ?? ill
  const url = `${base}/a2a/${name}`
  return {
    name,
    kind,
    state: state === 'open' && ill !== undefined ? 'unreachable' : state,
    ...(why !== undefined ? { trouble: why } : {}),
    ...(title !== undefined ? { title } : {}),
    ...(description !== undefined ? { description } : {}),
    url,
    card: `${url}/.well-known/agent-card.json`,
    skills: skills.map(({ id }) => id),
  }
}

/** What is wrong with what is behind it, if anything is. */
async function healthOf(registry: Registry, name: string): Promise<string | undefined> {
  try {
    await registry.open(name)?.health?.(AbortSignal.timeout(healthMs))
    return undefined
  } catch (reason) {
    return reason instanceof Error ? reason.message : String(reason)
  }
}
