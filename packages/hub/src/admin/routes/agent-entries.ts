/** Adds, changes and removes agents in the configuration, and detects the kind of a URL or command. */
import { linkSignals, validateAgentName } from '@parley/a2a/internal'
import { z } from 'zod'
import { uniqueAgentName, type Detect } from '../../agents/detect/detect.ts'
import { diagnosisCodes } from '../../agents/detect/diagnosis.ts'
import type { AgentKind } from '../../agents/kind.ts'
import { formatPath } from '../../config/config-problem.ts'
import { kindEntrySchemas, type JsonSchema } from '../../config/json-schema.ts'
import type { AgentRegistry } from '../../registry/agent-registry.ts'
import { notFoundError, RouteError } from '../../http/json-response.ts'
import { hubReference } from '../../config/secrets/hub-references.ts'
import type { HubConfig } from '../../config/hub-config.ts'
import type { AgentEntry } from '../../config/edit-agent-entry.ts'
import type { HubSecrets } from '../../secrets/hub-secrets.ts'
import type { AppliedConfig, ConfigEdit, ConfigService } from '../config-service.ts'
import { extractSecrets, freeSecretName, withNewSecrets } from '../entry-secrets.ts'
import { jsonObject, nameField, type AdminRoute, jsonRoute, taggedRoutes } from '../route.ts'
import { invalidFieldError } from '../key-fields.ts'
import { secretName, secretValue } from './secrets.ts'
import { appliedSchema, appliedToJson, diffLines, effectsSchema, effectsToJson, maxConfigBytes } from './config.ts'

export interface AgentEntryRoutesDeps {
  readonly configService: ConfigService
  readonly registry: Pick<AgentRegistry, 'status' | 'names'>
  readonly kinds: readonly AgentKind[]
  readonly detect: Detect
  readonly fetch: typeof fetch
  /** Environment variables for programs that detection runs. */
  readonly programEnv: Readonly<Record<string, string>>
  readonly secrets: HubSecrets
  /** The current configuration; commands run in its folder. */
  config(): HubConfig
}

const params = z.object({ agent: nameField })
const entry = z
  .looseObject({ kind: z.string().min(1) })
  .describe('As in the file: `kind` and the settings of that kind.')
const entryText = z
  .string()
  .describe('The entry as YAML, or as JSON if the file is JSON. Comments are kept, and secrets shown as (not shown).')
const secretsField = z
  .record(secretName, secretValue)
  .optional()
  .describe('New secrets that the entry refers to as `${hub:<name>}`. Fails with 409 if there is one of the same name.')
const editFields = { note: z.string().max(500).optional(), base: z.string().max(64).optional() }
const secretsDescription =
  'Secrets in clear are kept by the hub, and the file gets references to them: `${hub:<name>}`.'
/** A program may have to be installed first. */
const detectTimeoutMs = 60_000

const detected = z.strictObject({
  kind: z.string().optional(),
  name: z.string().optional(),
  entry: jsonObject.optional().describe('The entry for the configuration.'),
  secret: z
    .string()
    .optional()
    .describe('The name of the secret for the token, which the entry refers to. It is not set.'),
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
  const { configService, registry, kinds, detect, fetch, programEnv, secrets, config } = parts
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
          .describe('The entry refers to this environment variable. Default: to a secret that the hub keeps.'),
      }),
      response: detected,
      async handle({ body: { target, token, tokenEnv }, signal }) {
        const [first, ...rest] = target as [string, ...string[]]
        const reference = `\${env:${tokenEnv ?? 'AGENT_TOKEN'}}`
        const limit = linkSignals([signal], detectTimeoutMs)
        const found = await detect([first, ...rest], {
          fetch,
          signal: limit.signal,
          onProgress() {},
          cwd: config().baseDir,
          env: programEnv,
          ...(token !== undefined ? { token: { value: token, reference } } : {}),
        }).finally(limit.end)
        if ('reasons' in found) return { diagnosis: found.diagnosis, reasons: [...found.reasons] }
        const { kind, name: detectedName, entry: own, notes } = found
        const name = uniqueAgentName(detectedName, registry.names())
        const answer = { kind, name, entry: { ...own }, ...(notes !== undefined ? { notes: [...notes] } : {}) }
        const text = JSON.stringify(answer)
        if (token === undefined || tokenEnv !== undefined || !text.includes(reference)) return answer
        const secret = freeSecretName(`${name}-token`, await secretNames())
        return { ...(JSON.parse(text.replaceAll(reference, hubReference(secret))) as typeof answer), secret }
      },
    }),
    jsonRoute('POST /admin/agents', {
      name: 'addAgent',
      summary: 'Adds an agent to the configuration.',
      description: secretsDescription,
      body: z.strictObject({ name: z.string(), entry, secrets: secretsField, ...editFields }),
      maxBytes: maxConfigBytes,
      status: 201,
      response: appliedSchema,
      event: 'config.applied',
      async handle({ body, who }) {
        const problem = validateAgentName(body.name)
        if (problem !== undefined) throw invalidFieldError('name', problem)
        const names = await secretNames()
        const clash = Object.keys(body.secrets ?? {}).find((one) => names.includes(one))
        if (clash !== undefined) throw new RouteError('CONFLICT', `There is a secret ${clash} already: detect again`)
        const about = { who: who.subject, note: body.note ?? `add ${body.name}`, base: body.base, isNew: true }
        return appliedToJson(await putAgent(body.name, body.entry, about, body.secrets))
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
      description: secretsDescription,
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
        return appliedToJson(await putAgent(agent, edited, { who: who.subject, note, base: body.base }))
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

  /** Also those that another replica has just set, and those that no key decrypts. */
  async function secretNames(): Promise<readonly string[]> {
    return (await secrets.list()).map(({ name }) => name)
  }

  /** Secrets in clear become secrets that the hub keeps. */
  async function putAgent(
    agent: string,
    written: AgentEntry | string,
    about: ConfigEdit,
    added: Readonly<Record<string, string>> = {},
  ): Promise<AppliedConfig> {
    const taken = [...(await secretNames()), ...Object.keys(added)]
    const { entry: own, secrets: extracted } = extractSecrets(written, { agent, kinds, taken })
    const values = new Map([...Object.entries(added), ...extracted])
    const deps = { secrets, config, who: about.who }
    return withNewSecrets(values, deps, () => configService.putAgent(agent, own, about))
  }
}
