/**
 * What the server is told of one agent: what the agent knows of itself, and over it what its entry says. Skills are added
 * up: those that are live, those of the bundles, those of the entry; of two with one name the later stands (S0-14, S4-13,
 * S4-14).
 */
import type { Agent, AgentSkill } from '@parley/a2a'
import type { AgentSettings, CardPatch, Extension } from '@parley/a2a/server'
import type { CardPart, OpenAgent } from './agents/kind.ts'
import type { CardConfig, ExtendedCardConfig } from './config/card.ts'
import type { AgentConfig } from './config/config.ts'
import { defined } from './defined.ts'

export interface SettingsParts {
  readonly name: string
  readonly config: AgentConfig
  /** What the configuration says of all cards. */
  readonly cards: CardConfig
  readonly bundles: Readonly<Record<string, readonly AgentSkill[]>>
  /** As it is to run: behind its limits. */
  readonly agent: Agent
  readonly open?: Pick<OpenAgent, 'card' | 'extensions'> | undefined
  /** What the agent said when it was last looked at. */
  readonly looked?: CardPart | undefined
  readonly isAvailable: boolean
  /** How long a turn may take; nothing for as long as usual. */
  readonly turnTimeoutMs: number | undefined
  /** When its tasks open, as its kind sets it. Default: that of the server. */
  readonly openAfterMs?: number | undefined
  /** Of the hub itself, beside those of the agent. */
  readonly extensions: readonly Extension[]
  /** Who may call it, as its card says. */
  readonly security: Pick<AgentSettings, 'securitySchemes' | 'securityRequirements'>
}

const notAvailable = 'This agent is not available at the moment.'

export function settingsOf(parts: SettingsParts): AgentSettings {
  const { name, config, agent, open, looked, isAvailable, turnTimeoutMs, openAfterMs } = parts
  const known: CardPart = { name, ...open?.card, ...defined(looked) }
  const { provider, documentationUrl, iconUrl, version, inputModes, outputModes } = config
  const said = { ...known, ...defined({ provider, documentationUrl, iconUrl, version, inputModes, outputModes }) }
  const skills = mergeSkills(
    known.skills ?? [],
    config.skillBundles.flatMap((one) => parts.bundles[one] ?? []),
    config.skills,
  )
  const description = [config.description ?? known.description, config.persona, isAvailable ? undefined : notAvailable]
  const text = description.filter((one) => one !== undefined && one !== '').join('\n\n')
  const { skills: _, description: __, ...rest } = said
  const { afterMs } = config.inputTimeout
  const { visibility, shape, extended, ...omitted } = { ...parts.cards, ...defined(config.card) }
  const { keepOpenOnInputRequired, grpcPort, grpcUrl } = config
  // Later ones lie over earlier ones of the same URI: an entry may require what the agent or the hub brings.
  const required = config.requiredExtensions.map((uri): Extension => ({ uri, required: true }))
  const extensions = [...(open?.extensions ?? []), ...parts.extensions, ...required]
  return {
    ...rest,
    name: config.name ?? known.name ?? name,
    ...(text !== '' ? { description: text } : {}),
    ...(skills.length > 0 ? { skills } : {}),
    ...(extensions.length > 0 ? { extensions } : {}),
    ...defined({ turnTimeoutMs, openAfterMs }),
    ...(Number.isFinite(afterMs) ? { inputTimeout: config.inputTimeout } : {}),
    ...(config.whenBusy !== undefined ? { whenBusy: config.whenBusy } : {}),
    ...parts.security,
    ...defined({ card: shape, ...omitted, keepOpenOnInputRequired, grpcPort, grpcUrl }),
    ...(extended !== undefined ? { extendedCard: extendedOf(extended, skills) } : {}),
    protectCard: visibility === 'private',
    // Clients before 1.0 may ask for it, and then get what they were told of (S4-13).
    stateTransitionHistory: true,
    agent,
  }
}

function extendedOf(
  { skills, inputModes: defaultInputModes, outputModes: defaultOutputModes, ...same }: ExtendedCardConfig,
  known: readonly AgentSkill[],
): CardPatch {
  return {
    ...defined({ ...same, defaultInputModes, defaultOutputModes }),
    ...(skills === undefined ? {} : { skills: mergeSkills(known, skills) }),
  }
}

/** By name, whatever its case; the later of two says what it is, the earlier where it stands. Ids stay apart. */
export function mergeSkills(...lists: readonly (readonly AgentSkill[])[]): readonly AgentSkill[] {
  const byName = new Map(lists.flat().map((skill) => [skill.name.trim().toLowerCase(), skill]))
  const ids = new Set<string>()
  return [...byName.values()].map((skill) => {
    const id = freeId(skill.id, ids)
    ids.add(id)
    return id === skill.id ? skill : { ...skill, id }
  })
}

function freeId(id: string, taken: ReadonlySet<string>): string {
  if (!taken.has(id)) return id
  for (let count = 2; ; count += 1) if (!taken.has(`${id}-${count}`)) return `${id}-${count}`
}
