/**
 * The whole configuration, as parley.yaml says it and as the hub gets it. One schema: what is checked, what is typed, what
 * editors complete and what the documentation lists all come from here. What an entry of `agents` may hold beside
 * `agentFields` is its kind's own business.
 */
import { z } from 'zod'
import { access, admin } from './access.ts'
import type { AgentFields } from './agent-fields.ts'
import { card } from './card.ts'
import { delegation } from './delegation.ts'
import { health } from './health.ts'
import { idempotency, limits, retention } from './limits.ts'
import { listen, push, signing, store } from './listen.ts'
import { mcp } from './mcp.ts'
import { profiles } from './profiles.ts'
import { routes } from './routes.ts'
import { skill } from './skill.ts'
import { prices, telemetry } from './telemetry.ts'
import { hostAndPort, httpUrl } from './values.ts'

export const sections = z.strictObject({
  listen: listen.prefault({}),
  store: store.prefault('sqlite:'),
  publicUrl: httpUrl
    .refine((url) => !/[?#]/.test(url), 'give a url without ? and #')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .meta({ description: 'Where the hub is reached from outside, as all cards say it.' }),
  grpcUrl: hostAndPort
    .optional()
    .meta({ description: 'Where gRPC is reached from outside, as all cards say it. Default: listen.grpcPort.' }),
  card: card.prefault('merged'),
  default: z
    .literal('none', 'say none, or leave it out and set `default: true` in an agent')
    .optional()
    .meta({ description: 'none: a request that names no agent is refused. Default: an agent answers it.' }),
  agents: z
    .record(
      z.string(),
      z.unknown(),
      'give the agents by name: `agents: { greeter: { kind: module, path: ./greeter.ts } }`',
    )
    .meta({ description: 'The agents by name. Each has its own address, card and tasks.' }),
  skillBundles: z
    .record(z.string(), z.array(skill))
    .prefault({})
    .meta({ description: 'Skills under one name, for the cards of the agents that name it.' }),
  access: access.optional().meta({ description: 'Who may call. Without it everybody on this machine may.' }),
  admin: admin.prefault({}),
  limits: limits.prefault({}),
  routes,
  delegation: delegation.prefault({}).meta({ description: 'How far agents that call agents may go.' }),
  health: health.prefault({}).meta({ description: 'When an agent counts as down or slow.' }),
  retention: retention.prefault({}),
  idempotency: idempotency.prefault({}).meta({ description: 'When a message is a repeat of another.' }),
  push,
  signing,
  cors: z
    .union([z.literal('*'), z.array(z.string())], "list the origins, such as [https://app.example.com], or say '*'")
    .optional()
    .meta({ description: 'The origins that browsers may call from. Default: none.' }),
  trustProxy: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether X-Forwarded-Host and X-Forwarded-Proto are believed.' }),
  mcp,
  telemetry: telemetry.prefault({}).meta({ description: 'What the hub tells of what it does.' }),
  prices,
  profiles: profiles.prefault({}).meta({ description: 'Ways of speaking that are not the protocol’s.' }),
})

export type Sections = z.output<typeof sections>

/** One entry of `agents`. */
export interface AgentConfig extends AgentFields {
  readonly kind: string
  /** What its kind has read. */
  readonly own: unknown
}

/** All that a hub is told, checked and frozen. */
export interface HubConfig extends Readonly<Omit<Sections, 'agents'>> {
  readonly agents: Readonly<Record<string, AgentConfig>>
  /** The file that it was read from, if it was. */
  readonly file?: string
  /** Relative paths begin here. */
  readonly baseDir: string
  /** Where SQLite is unless `store` says otherwise. */
  readonly dataDir: string
}
