/** A skill in the configuration: fewer fields than on a card; the rest is derived. */
import type { AgentSkill } from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import { z } from 'zod'
import { nonEmpty } from '../values.ts'

export const skillSchema = z
  .strictObject({
    id: nonEmpty.optional().describe('The id that clients name the skill by. Default: derived from the name.'),
    name: nonEmpty.describe('The name of the skill on the card.'),
    description: nonEmpty.optional().describe('What the skill does. Default: the name.'),
    tags: z.array(nonEmpty).optional().describe('Keywords for search. Default: general.'),
    examples: z.array(nonEmpty).optional().describe('Example prompts.'),
    inputModes: z.array(nonEmpty).optional().describe('Accepted media types. Default: those of the agent.'),
    outputModes: z.array(nonEmpty).optional().describe('Media types of its output. Default: those of the agent.'),
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
