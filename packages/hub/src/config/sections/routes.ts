/** The section `routes`: which messages for one agent are delegated to another. */
import { RE2JS } from 're2js'
import { z } from 'zod'
import { nonEmpty } from '../values.ts'

const oneOrMore = (what: string) =>
  z
    .union([nonEmpty.transform((one) => [one]), z.array(nonEmpty).min(1, 'is empty')], `must be ${what}, or a list`)
    .describe(`${what[0]?.toUpperCase()}${what.slice(1)}, or a list of alternatives.`)

const scalarSchema = z.union([z.string(), z.number(), z.boolean(), z.null()])

const conditionsSchema = z.strictObject({
  text: oneOrMore('a text that the message contains, case-insensitive').optional(),
  regex: nonEmpty
    .superRefine((pattern, context) => {
      const problem = regexProblem(pattern)
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
    })
    .optional()
    .describe('A regular expression (RE2: no look-around, no back-references) for the text; (?i) for any case.'),
  skill: oneOrMore('the skill that the message names').optional(),
  metadata: z
    .record(
      nonEmpty,
      z.union([scalarSchema, z.array(scalarSchema).min(1, 'is empty')], 'must be a value or a list of values'),
    )
    .optional()
    .describe('Values of the metadata of the message or the request; a.b is the field b of a.'),
  caller: oneOrMore('the id of the caller, with * for any characters').optional(),
  parts: oneOrMore('text, data, file, or a media type such as image/*')
    .optional()
    .describe('A part that the message has: text, data, file, or a media type such as image/*.'),
})

const weightedTarget = z.strictObject({
  agent: nonEmpty.describe('The name of an agent.'),
  weight: z
    .number('must be a number')
    .positive('must be a number above 0')
    .default(1)
    .describe('Its share of the messages, relative to the other targets.'),
})

export const routeSchema = z.strictObject({
  name: nonEmpty.optional().describe('Its name in logs and traces.'),
  from: oneOrMore('the agent whose messages are routed'),
  when: conditionsSchema
    .refine(
      (conditions) => Object.keys(conditions).length > 0,
      'must be a mapping of conditions; or remove it to match always',
    )
    .optional()
    .describe('All conditions must match. Default: always.'),
  to: z
    .union(
      [
        nonEmpty.transform((agent) => [{ agent, weight: 1 }]),
        z.array(z.union([nonEmpty.transform((agent) => ({ agent, weight: 1 })), weightedTarget])).min(1, 'is empty'),
      ],
      'must be an agent, or a list of { agent, weight }',
    )
    .describe('The target: one agent, or several by weight. It may be the agent itself.'),
  priority: z
    .int('must be a whole number')
    .default(0)
    .describe('The matching route with the highest value is used. Default 0.'),
  fallback: z
    .union([nonEmpty.transform((one) => [one]), z.array(nonEmpty)], 'must be an agent or a list')
    .default([])
    .describe('The fallbacks, in order, if the targets are down, slow or overloaded.'),
})

export const routesSection = z.array(routeSchema).default([]).describe('Messages that are routed to other agents.')

export type Route = z.output<typeof routeSchema>

function regexProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern)
    return undefined
  } catch (reason) {
    return `is not a valid RE2 regular expression: ${reason instanceof Error ? reason.message : String(reason)}`
  }
}
