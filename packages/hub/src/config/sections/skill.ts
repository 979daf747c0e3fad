/** A skill in the configuration: fewer fields than on a card; the rest is derived. */
import { omitUndefined, type AgentSkill } from '@parley/a2a'
import { z } from 'zod'
import { nonEmpty } from '../values.ts'

export const skillSchema = z
  .strictObject({
    id: nonEmpty.optional().describe('Default: derived from the name.'),
    name: nonEmpty,
    description: nonEmpty.optional().describe('Default: the name.'),
    tags: z.array(nonEmpty).optional().describe('Default: general.'),
    examples: z.array(nonEmpty).optional(),
    inputModes: z.array(nonEmpty).optional(),
    outputModes: z.array(nonEmpty).optional(),
  })
  .transform(({ id, name, description, tags, ...modes }): AgentSkill => {
    return {
      id: id ?? slugOf(name),
      name,
      description: description ?? name,
      tags: tags === undefined || tags.length === 0 ? ['general'] : tags,
      ...omitUndefined(modes),
    }
  })

function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
  return slug === '' ? name : slug
}
