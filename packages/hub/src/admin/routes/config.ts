/** `/admin/config`: reads, checks, compares, applies and restores the configuration. */
import { z } from 'zod'
import { type JsonSchema } from '../../config/json-schema.ts'
import { formatPath } from '../../config/config-problem.ts'
import type { ReloadResult } from '../../config/diff-config.ts'
import { notFoundError, isoTime } from '../../http/json-response.ts'
import type { ConfigService, ConfigVersion } from '../config-service.ts'
import { timestamp, jsonObject, type AdminRoute, jsonRoute, taggedRoutes } from '../route.ts'

export interface ConfigRoutesDeps {
  readonly configService: ConfigService
  /** The schema of the whole file, for editors. */
  schema(): JsonSchema
}

/** As JSON: a text has up to 256 kB (`config/config-document.ts`), and escaping enlarges it. */
export const maxConfigBytes = 600_000

export const effectsSchema = z
  .strictObject({
    added: z.array(z.string()).describe('Added agents.'),
    changed: z.array(z.string()),
    removed: z.array(z.string()).describe('Removed agents; running turns finish.'),
    applied: z.array(z.string()).describe('Changed sections that are applied.'),
    restart: z.array(z.string()).describe('Changes that are applied after a restart.'),
  })
  .meta({ id: 'ConfigEffects' })

export const appliedSchema = z
  .strictObject({ version: z.string(), hash: z.string(), effects: effectsSchema })
  .meta({ id: 'ConfigApplied' })

const editedText = z.strictObject({
  text: z.string().describe('The whole file. Secrets shown as (not shown) are kept.'),
})

export const diffLines = z.array(
  z.strictObject({
    change: z.enum(['same', 'added', 'removed']),
    text: z.string(),
    before: z.int().optional(),
    after: z.int().optional(),
  }),
)
const editFields = {
  note: z.string().max(500).optional().describe('The reason for the change, shown in the list of versions.'),
  base: z.string().max(64).optional().describe('The hash of the edited configuration; 409 if it has changed since.'),
}

const versionSchema = z.strictObject({
  id: z.string(),
  at: timestamp,
  who: z.string().optional().describe('Absent: the text was found in the file when it was replaced.'),
  note: z.string().optional(),
  hash: z.string(),
  isCurrent: z.boolean(),
})

const idParams = z.object({ id: z.string().max(64) })

export function configRoutes({ configService, schema }: ConfigRoutesDeps): readonly AdminRoute[] {
  const shown = ({ at, ...rest }: ConfigVersion) => ({
    ...rest,
    at: isoTime(at),
    isCurrent: rest.hash === configService.hash(),
  })
  return taggedRoutes('Configuration', [
    jsonRoute('GET /admin/config', {
      name: 'getConfig',
      summary: 'The configuration file, without secrets.',
      response: z.strictObject({ file: z.string(), text: z.string(), hash: z.string() }),
      handle: () => ({ text: configService.text(), hash: configService.hash(), file: configService.file ?? '' }),
    }),
    jsonRoute('GET /admin/config/schema', {
      name: 'getConfigSchema',
      summary: 'The JSON Schema of the file, for editors.',
      response: jsonObject,
      handle: () => schema() as Record<string, unknown>,
    }),
    jsonRoute('POST /admin/config/check', {
      name: 'checkConfig',
      summary: 'Validates a configuration; changes nothing.',
      body: editedText,
      maxBytes: maxConfigBytes,
      response: z.strictObject({
        problems: z.array(z.strictObject({ path: z.string(), line: z.int().optional(), message: z.string() })),
      }),
      handle: async ({ body }) => ({
        problems: (await configService.check(body.text)).map(({ path, line, message }) => ({
          path: formatPath(path),
          ...(line !== undefined ? { line } : {}),
          message,
        })),
      }),
    }),
    jsonRoute('POST /admin/config/diff', {
      name: 'diffConfig',
      summary: 'Compares a configuration with the current one and lists the effects; changes nothing.',
      body: editedText,
      maxBytes: maxConfigBytes,
      response: z.strictObject({ diff: diffLines, effects: effectsSchema }),
      async handle({ body }) {
        const preview = await configService.diff(body.text)
        return { diff: [...preview.diff], effects: effectsToJson(preview.effects) }
      },
    }),
    jsonRoute('PUT /admin/config', {
      name: 'applyConfig',
      summary: 'Applies a configuration and writes it to the file.',
      body: editedText.extend(editFields),
      maxBytes: maxConfigBytes,
      response: appliedSchema,
      event: 'config.applied',
      async handle({ body: { text, ...about }, who }) {
        return appliedToJson(await configService.apply(text, { who: who.subject, ...about }))
      },
    }),
    jsonRoute('POST /admin/config/reload', {
      name: 'reloadConfig',
      summary: 'Reads the file again and applies it, as after a change of the file. An invalid file changes nothing.',
      response: z.strictObject({ effects: effectsSchema }),
      event: 'config.applied',
      handle: async () => ({ effects: effectsToJson(await configService.reload()) }),
    }),
    jsonRoute('GET /admin/config/versions', {
      name: 'listConfigVersions',
      summary: 'Lists the applied configurations, newest first.',
      response: z.strictObject({ versions: z.array(versionSchema) }),
      handle: async () => ({ versions: (await configService.versions()).map(shown) }),
    }),
    jsonRoute('GET /admin/config/versions/{id}', {
      name: 'getConfigVersion',
      summary: 'Shows one of them, without secrets.',
      params: idParams,
      response: versionSchema.extend({
        text: z.string(),
        diff: diffLines.describe('The difference between the current one and this one.'),
        effects: effectsSchema.optional().describe('The effects of restoring it; absent if it cannot be restored.'),
      }),
      async handle({ params }) {
        const found = await configService.version(params.id)
        if (found === undefined) throw notFoundError()
        const { text, diff, effects: previewed, ...about } = found
        return {
          ...shown(about),
          text,
          diff: [...diff],
          ...(previewed !== undefined ? { effects: effectsToJson(previewed) } : {}),
        }
      },
    }),
    jsonRoute('POST /admin/config/versions/{id}/restore', {
      name: 'restoreConfig',
      summary: 'Restores one of them.',
      params: idParams,
      body: z.strictObject(editFields).optional(),
      response: appliedSchema,
      event: 'config.applied',
      async handle({ params, body, who }) {
        return appliedToJson(await configService.restore(params.id, { who: who.subject, ...body }))
      },
    }),
  ])
}

export function appliedToJson({
  version: versionId,
  hash,
  effects: previewed,
}: Awaited<ReturnType<ConfigService['apply']>>) {
  return { version: versionId, hash, effects: effectsToJson(previewed) }
}

export function effectsToJson({ added, changed, removed, applied: appliedSections, restart }: ReloadResult) {
  return {
    added: [...added],
    changed: [...changed],
    removed: [...removed],
    applied: [...appliedSections],
    restart: [...restart],
  }
}
