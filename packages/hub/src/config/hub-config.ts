/**
 * The whole configuration, as written in parley.yaml and as the hub receives it. Validation, types, editor completion and
 * documentation all derive from this one schema. The fields of an `agents` entry beyond `agentFields` belong to its kind.
 */
import { z } from 'zod'
import { accessSection, adminSection } from './sections/access.ts'
import type { AgentFields } from './sections/agent-fields.ts'
import { cardSection } from './sections/card.ts'
import { delegationSection } from './sections/delegation.ts'
import { healthSection } from './sections/health.ts'
import { idempotencySection, limitsSection, retentionSection } from './sections/limits.ts'
import { listenSection, pushSection, signingSection, storeSection } from './sections/listen.ts'
import { mcpSection } from './sections/mcp.ts'
import { profilesSection } from './sections/profiles.ts'
import { routesSection } from './sections/routes.ts'
import { skillSchema } from './sections/skill.ts'
import { pricesSection, telemetrySection } from './sections/telemetry.ts'
import { hostAndPort, httpUrl } from './values.ts'

export const sectionsSchema = z.strictObject({
  listen: listenSection.prefault({}),
  store: storeSection.prefault('sqlite:'),
  publicUrl: httpUrl
    .refine((url) => !/[?#]/.test(url), 'must be a URL without ? and #')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .meta({ description: 'Where the hub is reached from outside, as all cards say it.' }),
  grpcUrl: hostAndPort
    .optional()
    .meta({ description: 'Where gRPC is reached from outside, as all cards say it. Default: listen.grpcPort.' }),
  card: cardSection.prefault('merged'),
  default: z
    .literal('none', 'must be none; or remove it and set `default: true` in an agent')
    .optional()
    .meta({ description: 'none: requests that name no agent are refused. Default: the default agent handles them.' }),
  agents: z
    .record(
      z.string(),
      z.unknown(),
      'must map names to agents: `agents: { greeter: { kind: module, path: ./greeter.ts } }`',
    )
    .meta({ description: 'The agents by name. Each has its own address, card and tasks.' }),
  skillBundles: z
    .record(z.string(), z.array(skillSchema))
    .prefault({})
    .meta({ description: 'Skills under one name, for the cards of the agents that name it.' }),
  access: accessSection.optional().meta({ description: 'Who may call. Default: all callers, on loopback only.' }),
  admin: adminSection.prefault({}),
  limits: limitsSection.prefault({}),
  routes: routesSection,
  delegation: delegationSection.prefault({}).meta({ description: 'Limits for agents that call agents.' }),
  health: healthSection.prefault({}).meta({ description: 'When an agent counts as down or slow.' }),
  retention: retentionSection.prefault({}),
  idempotency: idempotencySection.prefault({}).meta({ description: 'When a message is a repeat of another.' }),
  push: pushSection,
  signing: signingSection,
  cors: z
    .union([z.literal('*'), z.array(z.string())], "must be a list of origins such as [https://app.example.com], or '*'")
    .optional()
    .meta({ description: 'The origins that browsers may call from. Default: none.' }),
  trustProxy: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether X-Forwarded-Host and X-Forwarded-Proto are believed.' }),
  mcp: mcpSection,
  telemetry: telemetrySection.prefault({}).meta({ description: 'What the hub tells of what it does.' }),
  prices: pricesSection,
  profiles: profilesSection.prefault({}).meta({ description: 'Ways of speaking that are not the protocol’s.' }),
})

export type ConfigSections = z.output<typeof sectionsSchema>

/** One entry of `agents`. */
export interface AgentConfig extends AgentFields {
  readonly kind: string
  /** The parsed fields of its kind. */
  readonly own: unknown
}

/** The complete configuration of a hub, checked and frozen. */
export interface HubConfig extends Readonly<Omit<ConfigSections, 'agents'>> {
  readonly agents: Readonly<Record<string, AgentConfig>>
  /** The file that it was read from, if any. */
  readonly file?: string
  /** The directory against which relative paths are resolved. */
  readonly baseDir: string
  /** The directory of the SQLite file, unless `store` names another. */
  readonly dataDir: string
}
