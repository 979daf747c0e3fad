/**
 * The server settings of one agent: what the agent reports, overridden by its entry. Skills are merged: live skills, those of
 * bundles, those of the entry; of two with the same name the later wins (S0-14, S4-13, S4-14).
 */
import type { Agent, AgentSkill, CheckMessage } from '@parley/a2a'
import { cardInfo, omitUndefined } from '@parley/a2a/internal'
import type { AgentSettings, CardPatch, Extension } from '@parley/a2a/server'
import type { PartialCard, OpenAgent } from '../agents/kind.ts'
import type { CardConfig, ExtendedCardConfig } from '../config/sections/card.ts'
import type { AgentConfig } from '../config/hub-config.ts'

export interface AgentSettingsInput {
  readonly name: string
  readonly config: AgentConfig
  /** The card configuration for all agents. */
  readonly cards: CardConfig
  /** Whether its card lists the shared gRPC address. */
  readonly listsGrpc: boolean
  readonly bundles: Readonly<Record<string, readonly AgentSkill[]>>
  /** The agent to run, behind its limits. */
  readonly agent: Agent
  readonly checkMessage?: CheckMessage | undefined
  readonly open?: Pick<OpenAgent, 'card' | 'extensions'> | undefined
  /** The card fields that the agent last reported. */
  readonly liveCard?: PartialCard | undefined
  readonly isAvailable: boolean
  /** How long a turn may take; `undefined` for the default. */
  readonly turnTimeoutMs: number | undefined
  /** When its tasks open, as its entry or its kind sets it. Default: the setting of the server. */
  readonly openAfterMs?: number | undefined
  /** Whether its kind takes the card from a remote agent. */
  readonly hasRemoteCard?: true | undefined
  /** Extensions of the hub, beside those of the agent. */
  readonly extensions: readonly Extension[]
  /** The security fields of its card. */
  readonly security: Pick<AgentSettings, 'securitySchemes' | 'securityRequirements'>
}

const unavailableText = 'This agent is not available at the moment.'

export function buildAgentSettings(parts: AgentSettingsInput): AgentSettings {
  const { name, config, agent, open, liveCard, isAvailable, turnTimeoutMs, openAfterMs } = parts
  const known: PartialCard = { name, ...open?.card, ...omitUndefined(liveCard ?? {}) }
  const { version, inputModes, outputModes } = config
  const cardFields = {
    ...known,
    ...cardInfo(config),
    ...omitUndefined({ version, inputModes, outputModes }),
  }
  const skills = mergeSkills(
    known.skills ?? [],
    config.skillBundles.flatMap((one) => parts.bundles[one] ?? []),
    config.skills,
  )
  const description = [
    config.description ?? known.description,
    config.persona,
    isAvailable ? undefined : unavailableText,
  ]
  const text = description.filter((one) => one !== undefined && one !== '').join('\n\n')
  const { skills: _, description: __, ...rest } = cardFields
  const { afterMs } = config.inputTimeout
  const { visibility, shape, extended, ...omitted } = { ...parts.cards, ...omitUndefined(config.card) }
  const { keepOpenOnInputRequired, grpcPort, grpcUrl, outputModesRequired } = config
  const listsGrpc = parts.listsGrpc || grpcPort !== undefined || grpcUrl !== undefined
  const omitInterfaces = listsGrpc ? omitted.omitInterfaces : [...(omitted.omitInterfaces ?? []), 'GRPC' as const]
  // Later ones override earlier ones of the same URI: an entry may require what the agent or the hub provides.
  const required = config.requiredExtensions.map((uri): Extension => ({ uri, required: true }))
  const extensions = [...(open?.extensions ?? []), ...parts.extensions, ...required]
  return {
    ...rest,
    name: config.name ?? known.name ?? name,
    ...(text !== '' ? { description: text } : {}),
    ...(skills.length > 0 ? { skills } : {}),
    ...(extensions.length > 0 ? { extensions } : {}),
    ...omitUndefined({ turnTimeoutMs, openAfterMs, checkMessage: parts.checkMessage }),
    ...(Number.isFinite(afterMs) ? { inputTimeout: config.inputTimeout } : {}),
    ...omitUndefined({ whenBusy: config.whenBusy }),
    ...parts.security,
    ...omitUndefined({
      card: shape,
      ...omitted,
      omitInterfaces,
      keepOpenOnInputRequired,
      grpcPort,
      grpcUrl,
      outputModesRequired,
    }),
    ...(parts.hasRemoteCard === true && inputModes === undefined ? { inputModesRequired: false } : {}),
    ...(extended !== undefined ? { extendedCard: extendedCardPatch(extended, skills) } : {}),
    protectCard: visibility === 'private',
    // Clients before 1.0 may request it, and then get the history that they were sent (S4-13).
    stateTransitionHistory: true,
    agent,
  }
}

function extendedCardPatch(
  { skills, inputModes: defaultInputModes, outputModes: defaultOutputModes, ...same }: ExtendedCardConfig,
  known: readonly AgentSkill[],
): CardPatch {
  return {
    ...omitUndefined({ ...same, defaultInputModes, defaultOutputModes }),
    ...(skills === undefined ? {} : { skills: mergeSkills(known, skills) }),
  }
}

/** Merges by name, ignoring case: the later skill wins, at the position of the earlier. Skills with different ids stay separate. */
export function mergeSkills(...lists: readonly (readonly AgentSkill[])[]): readonly AgentSkill[] {
  const byName = new Map(lists.flat().map((skill) => [skill.name.trim().toLowerCase(), skill]))
  const ids = new Set<string>()
  return [...byName.values()].map((skill) => {
    const id = uniqueId(skill.id, ids)
    ids.add(id)
    return id === skill.id ? skill : { ...skill, id }
  })
}

function uniqueId(id: string, taken: ReadonlySet<string>): string {
  if (!taken.has(id)) return id
  for (let count = 2; ; count += 1) if (!taken.has(`${id}-${count}`)) return `${id}-${count}`
}
