/**
 * The whole configuration, as written in parley.yaml and as the hub receives it. Validation, types, editor completion and
 * documentation all derive from this one schema. The fields of an `agents` entry beyond `agentFields` belong to its kind.
 */
import { z } from 'zod'
import { accessSection, adminSection } from './sections/access.ts'
import type { AgentFields } from './sections/agent-fields.ts'
import { auditSection } from './sections/audit.ts'
import { cardSection } from './sections/card.ts'
import { idempotencySection, limitsSection, retentionSection } from './sections/limits.ts'
import { listenSection, pushSection, signingSection, storeSection } from './sections/listen.ts'
import { routesSection } from './sections/routes.ts'
import { secretsSection } from './sections/secrets.ts'
import { skillSchema } from './sections/skill.ts'
import { currencySection, pricesSection, telemetrySection } from './sections/telemetry.ts'
import { hostAndPort, httpUrl, duration, durationOrNone, nonEmpty } from './values.ts'

const count = z.int('must be a whole number')

const trustedHub = z.strictObject({
  issuer: nonEmpty.describe('The issuer name of the other hub. Usually its publicUrl.'),
  jwks: z
    .union(
      [
        httpUrl,
        z.strictObject({
          keys: z
            .array(z.record(z.string(), z.unknown()))
            .min(1, 'must contain at least one key')
            .describe('Public keys as JWKs.'),
        }),
      ],
      'must be the URL of its key set, such as https://hub.example.com/.well-known/jwks.json, or { keys: [...] }',
    )
    .describe('The URL of its key set, or the keys.'),
})

/** Limits for agents that call agents, and which other hubs are trusted. */
export const delegationSection = z.strictObject({
  issuer: nonEmpty
    .optional()
    .describe('The issuer name of this hub for other hubs. Default: publicUrl, or a generated name.'),
  maxDepth: count
    .min(1, 'must be at least 1')
    .max(64, 'must be at most 64')
    .default(8)
    .describe('The maximum depth of a chain of agents. Default 8.'),
  budget: z
    .strictObject({
      tasks: count
        .min(0, 'must be at least 0')
        .default(50)
        .describe('The maximum number of delegated tasks per request. Default 50.'),
    })
    .prefault({})
    .describe('What one request may spend on delegation.'),
  trust: z
    .array(trustedHub)
    .default([])
    .describe('Trusted hubs: they may act on behalf of callers, and receive on whose behalf this hub calls.'),
})

/** The agents as tools for MCP clients, at `/mcp`. */
const mcpSection = z
  .union(
    [
      z.literal(false),
      z.strictObject({
        tools: z
          .enum(['agents', 'skills'])
          .default('agents')
          .describe('skills: adds one tool for each skill of each agent.'),
        remote: z
          .union(
            [
              z.boolean(),
              z.strictObject({
                allow: z.array(nonEmpty).describe('Private hosts and ranges that calls may name.'),
              }),
            ],
            'must be true, false or { allow: [agents.internal] }',
          )
          .default(true)
          .describe('Whether callers that may use every agent may call remote agents by URL.'),
        wait: duration
          .prefault('50s')
          .describe('How long a call waits for an agent before it returns a running task. Default 50s.'),
      }),
    ],
    'must be false or a mapping',
  )
  .prefault({})
  .describe('The agents as tools for MCP clients, at /mcp. Default: on, for callers that may use the agents.')

/** When an agent counts as down or slow, and how often it is checked. */
const healthSection = z.strictObject({
  every: durationOrNone.prefault('1m').describe('The interval of health checks, or none. Default 1m.'),
  timeout: duration.prefault('10s').describe('The timeout of a health check. Default 10s.'),
  slow: durationOrNone
    .prefault('30s')
    .describe('An agent is slow if its first output usually takes longer. Default 30s.'),
  failures: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .default(5)
    .describe('Consecutive failures that open the circuit breaker. Default 5.'),
  cooldown: duration
    .prefault('30s')
    .describe('How long the circuit breaker stays open before one task is tried. Default 30s.'),
})

/** Endpoints for clients that do not follow the A2A specification. All are off by default. */
const profilesSection = z.strictObject({
  simpleTasks: z
    .boolean()
    .default(false)
    .describe('POST /a2a/tasks/send and GET /a2a/tasks/{id} at the default agent, for programs without an A2A client.'),
  botChat: z
    .boolean()
    .default(false)
    .describe('POST /bot-instances/{agent}/chat, which accepts a text and waits for the answer, for bot managers.'),
  olderDraft: z
    .boolean()
    .default(false)
    .describe(
      'Serves clients of an early description of 0.3 at /api/a2a and, for messages with `kind`, at /v1: traces and input requests on events, streams that stay open for answers, and the frames and errors that such clients read.',
    ),
})

export const sectionsSchema = z.strictObject({
  listen: listenSection.prefault({}).describe('Addresses, ports and TLS.'),
  store: storeSection.prefault('sqlite:'),
  publicUrl: httpUrl
    .refine((url) => !/[?#]/.test(url), 'must be a URL without ? and #')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('The public URL of the hub. Cards list it.'),
  grpcUrl: hostAndPort
    .optional()
    .describe('The public host and port of gRPC. Cards list it. Default: listen.grpcPort, if it is set.'),
  card: cardSection.prefault('merged'),
  default: z
    .literal('none', 'must be none; or remove it and set `default: true` in an agent')
    .optional()
    .describe('none: requests that name no agent are refused. Default: the default agent handles them.'),
  agents: z
    .record(
      z.string(),
      z.unknown(),
      'must map names to agents: `agents: { greeter: { kind: module, path: ./greeter.ts } }`',
    )
    .describe('The agents by name. Each has its own address, card and tasks.'),
  skillBundles: z
    .record(z.string(), z.array(skillSchema))
    .prefault({})
    .describe('Named lists of skills that agents can add to their cards.'),
  secrets: secretsSection,
  access: accessSection.optional().describe('Who may call. Default: all callers, on loopback only.'),
  admin: adminSection.prefault({}).describe('The admin API and the console.'),
  audit: auditSection.prefault({}).describe('Exports of the audit log.'),
  limits: limitsSection.prefault({}).describe('Rates, quotas and sizes.'),
  routes: routesSection,
  delegation: delegationSection.prefault({}).describe('Limits for agents that call agents.'),
  health: healthSection.prefault({}).describe('When an agent counts as down or slow.'),
  retention: retentionSection.prefault({}).describe('How long data is kept.'),
  idempotency: idempotencySection.prefault({}).describe('When a message is a repeat of another.'),
  push: pushSection,
  signing: signingSection,
  cors: z
    .union([z.literal('*'), z.array(z.string())], "must be a list of origins such as [https://app.example.com], or '*'")
    .optional()
    .describe('The origins that browsers may call from. Default: none.'),
  trustProxy: z.boolean().default(false).describe('Whether X-Forwarded-Host and X-Forwarded-Proto are trusted.'),
  strict: z
    .boolean()
    .default(false)
    .describe(
      'Whether a request without A2A-Version is one of 0.3, as 1.0 requires. Default: its method or path decides.',
    ),
  mcp: mcpSection,
  telemetry: telemetrySection.prefault({}).describe('Traces, metrics and logs.'),
  prices: pricesSection,
  currency: currencySection,
  profiles: profilesSection.prefault({}).describe('Endpoints for clients that do not follow the A2A specification.'),
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
  /** Files that references name: a change of one changes the configuration. */
  readonly secretFiles?: readonly string[]
  /** The directory against which relative paths are resolved. */
  readonly baseDir: string
  /** The directory of the SQLite file, unless `store` names another. */
  readonly dataDir: string
}
