/** `/admin/config`: the configuration as it is written, checked, compared, applied, and gone back to. */
import { z } from 'zod'
import { type JsonSchema } from '../../config/json-schema.ts'
import { pathText } from '../../config/path.ts'
import type { Reloaded } from '../../reloaded.ts'
import { notFound, time } from '../answer.ts'
import type { ConfigDesk, ConfigVersion } from '../config-desk.ts'
import { instant, json } from '../fields.ts'
import { type Route, route } from '../route.ts'

export interface ConfigRouteParts {
  readonly desk: ConfigDesk
  /** Of the whole file, for editors. */
  schema(): JsonSchema
}

const tag = 'Configuration'
/** As JSON: a text has up to 256 kB (`config/text-limits.ts`), and what is escaped in it takes more. */
const mostBytes = 600_000

export const effects = z
  .strictObject({
    added: z.array(z.string()).meta({ description: 'Agents that are new.' }),
    changed: z.array(z.string()),
    removed: z.array(z.string()).meta({ description: 'Agents that take nothing new; what runs is finished.' }),
    applied: z.array(z.string()).meta({ description: 'Sections that changed, and hold.' }),
    restart: z.array(z.string()).meta({ description: 'What changed and only holds after a restart.' }),
  })
  .meta({ id: 'ConfigEffects' })

export const applied = z.strictObject({ version: z.string(), hash: z.string(), effects }).meta({ id: 'ConfigApplied' })

const edited = z.strictObject({
  text: z.string().meta({ description: 'The whole file. Secrets that are shown as (not shown) stay what they are.' }),
})

const lines = z.array(
  z.strictObject({
    change: z.enum(['same', 'added', 'removed']),
    text: z.string(),
    before: z.int().optional(),
    after: z.int().optional(),
  }),
)
const change = {
  note: z.string().max(500).optional().meta({ description: 'Why, for whoever looks at the versions later.' }),
  base: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'The hash of what was edited; 409 if it is another by now.' }),
}

const version = z.strictObject({
  id: z.string(),
  at: instant,
  who: z.string().optional().meta({ description: 'Absent: it was found in the file when another took its place.' }),
  note: z.string().optional(),
  hash: z.string(),
  isCurrent: z.boolean(),
})

const id = z.object({ id: z.string().max(64) })

export function configRoutes({ desk, schema }: ConfigRouteParts): readonly Route[] {
  const shown = ({ at, ...rest }: ConfigVersion) => ({ ...rest, at: time(at), isCurrent: rest.hash === desk.hash() })
  return [
    route({
      method: 'GET',
      path: '/admin/config',
      name: 'getConfig',
      summary: 'The configuration as it is written, without its secrets.',
      tag,
      answer: z.strictObject({ file: z.string(), text: z.string(), hash: z.string() }),
      handle: () => ({ text: desk.text(), hash: desk.hash(), file: desk.file ?? '' }),
    }),
    route({
      method: 'GET',
      path: '/admin/config/schema',
      name: 'getConfigSchema',
      summary: 'The JSON Schema of the file, for editors.',
      tag,
      answer: json,
      handle: () => schema() as Record<string, unknown>,
    }),
    route({
      method: 'POST',
      path: '/admin/config/check',
      name: 'checkConfig',
      summary: 'Says all that is wrong with a text; changes nothing.',
      tag,
      body: edited,
      mostBytes,
      answer: z.strictObject({
        problems: z.array(z.strictObject({ path: z.string(), line: z.int().optional(), message: z.string() })),
      }),
      handle: ({ body }) => ({
        problems: desk.check(body.text).map(({ path, line, message }) => ({
          path: pathText(path),
          ...(line !== undefined ? { line } : {}),
          message,
        })),
      }),
    }),
    route({
      method: 'POST',
      path: '/admin/config/diff',
      name: 'diffConfig',
      summary: 'Compares a text with what holds, and says what applying it would do; changes nothing.',
      tag,
      body: edited,
      mostBytes,
      answer: z.strictObject({ diff: lines, effects }),
      handle({ body }) {
        const tried = desk.diff(body.text)
        return { diff: [...tried.diff], effects: shownEffects(tried.effects) }
      },
    }),
    route({
      method: 'PUT',
      path: '/admin/config',
      name: 'applyConfig',
      summary: 'Makes a text hold, and writes it into the file.',
      tag,
      body: edited.extend(change),
      mostBytes,
      answer: applied,
      event: 'config.applied',
      async handle({ body: { text, ...about }, who }) {
        return shownApplied(await desk.apply(text, { who: who.subject, ...about }))
      },
    }),
    route({
      method: 'GET',
      path: '/admin/config/versions',
      name: 'listConfigVersions',
      summary: 'Lists what was applied, the newest first.',
      tag,
      answer: z.strictObject({ versions: z.array(version) }),
      handle: async () => ({ versions: (await desk.versions()).map(shown) }),
    }),
    route({
      method: 'GET',
      path: '/admin/config/versions/{id}',
      name: 'getConfigVersion',
      summary: 'Shows one of them, without its secrets.',
      tag,
      params: id,
      answer: version.extend({
        text: z.string(),
        diff: lines.meta({ description: 'From what holds now to this one.' }),
        effects: effects
          .optional()
          .meta({ description: 'What restoring it would do; absent if it cannot be restored.' }),
      }),
      async handle({ params }) {
        const found = await desk.version(params.id)
        if (found === undefined) throw notFound()
        const { text, diff, effects: done, ...about } = found
        return {
          ...shown(about),
          text,
          diff: [...diff],
          ...(done !== undefined ? { effects: shownEffects(done) } : {}),
        }
      },
    }),
    route({
      method: 'POST',
      path: '/admin/config/versions/{id}/restore',
      name: 'restoreConfig',
      summary: 'Goes back to one of them.',
      tag,
      params: id,
      body: z.strictObject(change).optional(),
      answer: applied,
      event: 'config.applied',
      async handle({ params, body, who }) {
        return shownApplied(await desk.restore(params.id, { who: who.subject, ...body }))
      },
    }),
  ]
}

export function shownApplied({ version: made, hash, effects: done }: Awaited<ReturnType<ConfigDesk['apply']>>) {
  return { version: made, hash, effects: shownEffects(done) }
}

function shownEffects({ added, changed, removed, applied: held, restart }: Reloaded) {
  return {
    added: [...added],
    changed: [...changed],
    removed: [...removed],
    applied: [...held],
    restart: [...restart],
  }
}
