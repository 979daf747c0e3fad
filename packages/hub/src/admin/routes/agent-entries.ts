/** Adds, changes and removes agents in the configuration, and detects the kind of a URL or command. */
import { linkSignals } from '@parley/a2a'
import { validateAgentName } from '@parley/a2a/server'
import { z } from 'zod'
import type { Detect } from '../../agents/detect/detect.ts'
import { diagnosisCodes } from '../../agents/detect/diagnosis.ts'
import type { AgentKind } from '../../agents/kind.ts'
import { formatPath } from '../../config/config-problem.ts'
import { kindEntrySchemas, type JsonSchema } from '../../config/json-schema.ts'
import type { AgentRegistry } from '../../registry/agent-registry.ts'
import { notFoundError, RouteError } from '../../http/json-response.ts'
import type { ConfigService } from '../config-service.ts'
import { jsonObject, nameField, type AdminRoute, jsonRoute, taggedRoutes } from '../route.ts'
import { invalidFieldError } from '../key-fields.ts'
import { appliedSchema, appliedToJson, diffLines, effectsSchema, effectsToJson, maxConfigBytes } from './config.ts'

export interface AgentEntryRoutesDeps {
  readonly configService: ConfigService
  readonly registry: Pick<AgentRegistry, 'status'>
  readonly kinds: readonly AgentKind[]
  readonly detect: Detect
  readonly fetch: typeof fetch
  /** Environment variables for programs that detection runs. */
  readonly programEnv: Readonly<Record<string, string>>
  /** The working directory for commands. */
  baseDir(): string
}

const params = z.object({ agent: nameField })
const entry = z
  .looseObject({ kind: z.string().min(1) })
  .describe('As in the file: `kind` and the settings of that kind.')
const entryText = z
  .string()
  .describe('The entry as YAML, or as JSON if the file is JSON. Comments are kept, and secrets shown as (not shown).')
const editFields = { note: z.string().max(500).optional(), base: z.string().max(64).optional() }
/** A program may have to be installed first. */
const detectTimeoutMs = 60_000

const detected = z.strictObject({
  kind: z.string().optional(),
  name: z.string().optional(),
  entry: jsonObject.optional().describe('The entry for the configuration.'),
  notes: z.array(z.string()).optional().describe('Notes for the operator.'),
  diagnosis: z
    .strictObject({
      code: z.enum(diagnosisCodes),
      title: z.string().describe('Such as: Nothing is listening on port 44998.'),
      advice: z.string().describe('What to do.'),
      cause: z.string().optional().describe('The error as it was reported.'),
    })
    .optional()
    .describe('Why no kind was detected.'),
  reasons: z.array(z.string()).optional().describe('The attempts, if no kind was detected.'),
})

export function agentEntryRoutes(parts: AgentEntryRoutesDeps): readonly AdminRoute[] {
  const { configService, registry, kinds, detect, fetch, programEnv, baseDir } = parts
  return taggedRoutes('Agents', [
    jsonRoute('GET /admin/kinds', {
      name: 'listKinds',
      summary: 'The kinds of agents, each with the JSON Schemas of its entries.',
      response: z.strictObject({ kinds: z.array(z.strictObject({ kind: z.string(), schemas: z.array(jsonObject) })) }),
      handle: () => ({
        kinds: kinds.map((kind) => ({
          kind: kind.kind,
          schemas: kindEntrySchemas(kind).map((schema: JsonSchema) => schema as Record<string, unknown>),
        })),
      }),
    }),
    jsonRoute('POST /admin/agents/detect', {
      name: 'detectAgent',
      summary: 'Detects the agent kind of a URL or a command.',
      description: 'A command runs in the folder of the configuration file, as with the kind `command`.',
      body: z.strictObject({
        target: z
          .union([
            z
              .string()
              .min(1)
              .transform((one) => [one]),
            z.array(z.string().min(1)).min(1),
          ])
          .describe('A URL, or a command with its arguments.'),
        token: z.string().min(1).optional().describe('Used if credentials are required; not stored.'),
        tokenEnv: z
          .string()
          .regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable')
          .optional()
          .describe('The environment variable for the token. Default: AGENT_TOKEN.'),
      }),
      response: detected,
      async handle({ body: { target, token, tokenEnv = 'AGENT_TOKEN' }, signal }) {
        const [first, ...rest] = target as [string, ...string[]]
        const limit = linkSignals([signal], detectTimeoutMs)
        const found = await detect([first, ...rest], {
          fetch,
          signal: limit.signal,
          onProgress() {},
          cwd: baseDir(),
          env: programEnv,
          ...(token !== undefined ? { token: { value: token, reference: `\${env:${tokenEnv}}` } } : {}),
        }).finally(limit.end)
        if ('reasons' in found) return { diagnosis: found.diagnosis, reasons: [...found.reasons] }
        const { kind, name: detectedName, entry: own, notes } = found
        return { kind, name: detectedName, entry: { ...own }, ...(notes !== undefined ? { notes: [...notes] } : {}) }
      },
    }),
    jsonRoute('POST /admin/agents', {
      name: 'addAgent',
      summary: 'Adds an agent to the configuration.',
      body: z.strictObject({ name: z.string(), entry, ...editFields }),
      status: 201,
      response: appliedSchema,
      event: 'config.applied',
      async handle({ body, who }) {
        const problem = validateAgentName(body.name)
        if (problem !== undefined) throw invalidFieldError('name', problem)
        if (registry.status(body.name) !== undefined) {
          throw new RouteError('CONFLICT', `There is an agent ${body.name} already`)
        }
        const note = body.note ?? `add ${body.name}`
        return appliedToJson(
          await configService.putAgent(body.name, body.entry, { who: who.subject, note, base: body.base }),
        )
      },
    }),
    jsonRoute('POST /admin/agents/{agent}/review', {
      name: 'reviewAgent',
      summary: 'Checks an edited entry of an agent and compares it with the configuration; changes nothing.',
      description:
        'An edit is a text, or an object, which is merged into the text. Without an edit, it returns the current entry as text.',
      params,
      body: z.strictObject({ entry: jsonObject.optional(), text: entryText.optional() }),
      maxBytes: maxConfigBytes,
      response: z.strictObject({
        format: z.enum(['yaml', 'json']).describe('The format of the configuration file.'),
        text: z.string().describe('The entry as text, with its comments, without secrets.'),
        entry: jsonObject.optional().describe('The entry as an object; absent if the text cannot be parsed.'),
        problems: z.array(z.strictObject({ path: z.string(), line: z.int().optional(), message: z.string() })),
        diff: diffLines.optional().describe('The changed lines of the file; absent if there are problems.'),
        effects: effectsSchema.optional(),
      }),
      async handle({ params: { agent }, body }) {
        if (registry.status(agent) === undefined) throw notFoundError()
        const { problems, diff, effects, entry: own, ...review } = await configService.reviewAgent(agent, body)
        return {
          ...review,
          ...(own === undefined ? {} : { entry: { ...own } }),
          problems: problems.map(({ path, line, message }) => ({
            path: formatPath(path),
            ...(line === undefined ? {} : { line }),
            message,
          })),
          ...(diff === undefined ? {} : { diff: [...diff] }),
          ...(effects === undefined ? {} : { effects: effectsToJson(effects) }),
        }
      },
    }),
    jsonRoute('PUT /admin/agents/{agent}', {
      name: 'changeAgent',
      summary: "Replaces an agent's entry, by `entry` or by `text`. Secrets shown as (not shown) are kept.",
      params,
      body: z.strictObject({ entry: entry.optional(), text: entryText.optional(), ...editFields }),
      maxBytes: maxConfigBytes,
      response: appliedSchema,
      event: 'config.applied',
      async handle({ params: { agent }, body, who }) {
        if (registry.status(agent) === undefined) throw notFoundError()
        const edited = body.text ?? body.entry
        if (edited === undefined) throw invalidFieldError('entry', 'is missing: send `entry` or `text`')
        const note = body.note ?? `change ${agent}`
        return appliedToJson(await configService.putAgent(agent, edited, { who: who.subject, note, base: body.base }))
      },
    }),
    jsonRoute('DELETE /admin/agents/{agent}', {
      name: 'removeAgent',
      summary: 'Removes an agent from the configuration. Running turns finish, and its tasks are kept.',
      params,
      response: appliedSchema,
      event: 'config.applied',
      async handle({ params: { agent }, who }) {
        if (registry.status(agent) === undefined) throw notFoundError()
        return appliedToJson(
          await configService.putAgent(agent, undefined, { who: who.subject, note: `remove ${agent}` }),
        )
      },
    }),
  ])
}
