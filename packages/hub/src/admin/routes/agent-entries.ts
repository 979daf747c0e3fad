/** Agents put into the configuration, changed and taken out of it; and what an address or a command turns out to be. */
import { linkSignals } from '@parley/a2a'
import { whatIsWrongWithName } from '@parley/a2a/server'
import { z } from 'zod'
import type { Detect } from '../../agents/detect/detect.ts'
import type { AgentKind } from '../../agents/kind.ts'
import { entriesOf, type JsonSchema } from '../../config/json-schema.ts'
import type { Registry } from '../../registry.ts'
import { notFound, RouteError } from '../answer.ts'
import type { ConfigDesk } from '../config-desk.ts'
import { json, name } from '../fields.ts'
import { invalid } from '../key-fields.ts'
import { type Route, route } from '../route.ts'
import { applied, shownApplied } from './config.ts'

export interface EntryRouteParts {
  readonly desk: ConfigDesk
  readonly registry: Pick<Registry, 'status'>
  readonly kinds: readonly AgentKind[]
  readonly detect: Detect
  readonly fetch: typeof fetch
  /** What programs that are tried see of the hub's environment. */
  readonly programEnv: Readonly<Record<string, string>>
  /** Where commands are run. */
  baseDir(): string
}

const tag = 'Agents'
const params = z.object({ agent: name })
const entry = z
  .looseObject({ kind: z.string().min(1) })
  .meta({ description: 'As the file has it: `kind`, and what that kind takes.' })
const change = { note: z.string().max(500).optional(), base: z.string().max(64).optional() }
/** A program may have to be installed first. */
const patienceMs = 60_000

const detected = z.strictObject({
  kind: z.string().optional(),
  name: z.string().optional(),
  entry: json.optional().meta({ description: 'What to put into the configuration.' }),
  notes: z.array(z.string()).optional().meta({ description: 'What a person should know.' }),
  reasons: z.array(z.string()).optional().meta({ description: 'If nobody knows what it is: what was tried.' }),
})

export function entryRoutes(parts: EntryRouteParts): readonly Route[] {
  const { desk, registry, kinds, detect, fetch, programEnv, baseDir } = parts
  return [
    route({
      method: 'GET',
      path: '/admin/kinds',
      name: 'listKinds',
      summary: 'The kinds of agents, each with the JSON Schemas of its entries.',
      tag,
      answer: z.strictObject({ kinds: z.array(z.strictObject({ kind: z.string(), schemas: z.array(json) })) }),
      handle: () => ({
        kinds: kinds.map((kind) => ({
          kind: kind.kind,
          schemas: entriesOf(kind).map((schema: JsonSchema) => schema as Record<string, unknown>),
        })),
      }),
    }),
    route({
      method: 'POST',
      path: '/admin/agents/detect',
      name: 'detectAgent',
      summary: 'Finds out what is behind an address or a command.',
      description: 'A command is run where the configuration file is, as an agent of the kind `command` would be.',
      tag,
      body: z.strictObject({
        target: z
          .union([
            z
              .string()
              .min(1)
              .transform((one) => [one]),
            z.array(z.string().min(1)).min(1),
          ])
          .meta({ description: 'A url, or the words of a command.' }),
        token: z.string().min(1).optional().meta({ description: 'Tried where credentials are asked for; not kept.' }),
        tokenEnv: z
          .string()
          .regex(/^[A-Za-z_]\w*$/, 'give the name of a variable')
          .optional()
          .meta({ description: 'The variable of the environment that will hold it. Default: AGENT_TOKEN.' }),
      }),
      answer: detected,
      async handle({ body: { target, token, tokenEnv = 'AGENT_TOKEN' }, signal }) {
        const [first, ...rest] = target as [string, ...string[]]
        const limit = linkSignals([signal], patienceMs)
        const found = await detect([first, ...rest], {
          fetch,
          signal: limit.signal,
          say() {},
          cwd: baseDir(),
          env: programEnv,
          ...(token !== undefined ? { token: { value: token, reference: `\${env:${tokenEnv}}` } } : {}),
        }).finally(limit.end)
        if ('reasons' in found) return { reasons: [...found.reasons] }
        const { kind, name: called, entry: own, notes } = found
        return { kind, name: called, entry: { ...own }, ...(notes !== undefined ? { notes: [...notes] } : {}) }
      },
    }),
    route({
      method: 'POST',
      path: '/admin/agents',
      name: 'addAgent',
      summary: 'Adds an agent to the configuration.',
      tag,
      body: z.strictObject({ name: z.string(), entry, ...change }),
      status: 201,
      answer: applied,
      event: 'config.applied',
      async handle({ body, who }) {
        const wrong = whatIsWrongWithName(body.name)
        if (wrong !== undefined) throw invalid('name', wrong)
        if (registry.status(body.name) !== undefined) {
          throw new RouteError('CONFLICT', `There is an agent ${body.name} already`)
        }
        const note = body.note ?? `add ${body.name}`
        return shownApplied(await desk.putAgent(body.name, body.entry, { who: who.subject, note, base: body.base }))
      },
    }),
    route({
      method: 'PUT',
      path: '/admin/agents/{agent}',
      name: 'changeAgent',
      summary: "Replaces an agent's entry. Secrets that are shown as (not shown) stay what they are.",
      tag,
      params,
      body: z.strictObject({ entry, ...change }),
      answer: applied,
      event: 'config.applied',
      async handle({ params: { agent }, body, who }) {
        if (registry.status(agent) === undefined) throw notFound()
        const note = body.note ?? `change ${agent}`
        return shownApplied(await desk.putAgent(agent, body.entry, { who: who.subject, note, base: body.base }))
      },
    }),
    route({
      method: 'DELETE',
      path: '/admin/agents/{agent}',
      name: 'removeAgent',
      summary: 'Takes an agent out of the configuration. What runs is finished, and its tasks stay.',
      tag,
      params,
      answer: applied,
      event: 'config.applied',
      async handle({ params: { agent }, who }) {
        if (registry.status(agent) === undefined) throw notFound()
        return shownApplied(await desk.putAgent(agent, undefined, { who: who.subject, note: `remove ${agent}` }))
      },
    }),
  ]
}
