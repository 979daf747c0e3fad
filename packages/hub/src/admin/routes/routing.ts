/** `/admin/routes`: the rules by which messages are handed on, and which of them a message would meet. */
import type { Caller, Part, Struct } from '@parley/a2a'
import { z } from 'zod'
import type { Route as RoutingRule } from '../../config/routes.ts'
import type { Decision } from '../../routing/decide.ts'
import type { Supposed } from '../../routing/routing.ts'
import { notFound } from '../answer.ts'
import { json, name } from '../fields.ts'
import { type Route, route } from '../route.ts'

export interface RoutingRouteParts {
  rules(): readonly RoutingRule[]
  /** Which rule a message would meet, and why. Nothing is sent. */
  suppose(agent: string, supposed: Supposed): Decision
  hasAgent(name: string): boolean
}

const tag = 'Routes'

const rule = z
  .strictObject({
    route: z.int().meta({ description: 'Its place in the configuration, from 0.' }),
    name: z.string().optional(),
    from: z.array(z.string()),
    when: json.optional(),
    to: z.array(z.strictObject({ agent: z.string(), weight: z.number() })),
    priority: z.int(),
    fallback: z.array(z.string()),
  })
  .meta({ id: 'Route' })

const decision = z
  .strictObject({
    route: z.int().optional().meta({ description: 'The rule that fits; absent if the agent does the work itself.' }),
    name: z.string().optional(),
    why: z.string(),
    to: z.array(z.string()).meta({ description: 'Who may do it, the best first. Empty: nobody can now.' }),
    candidates: z.array(
      z.strictObject({ agent: z.string(), state: z.enum(['up', 'slow', 'down', 'over']), why: z.string().optional() }),
    ),
    considered: z.array(
      z.strictObject({ route: z.int(), name: z.string().optional(), fits: z.boolean(), why: z.string() }),
    ),
  })
  .meta({ id: 'RouteDecision' })

export function routingRoutes({ rules, suppose, hasAgent }: RoutingRouteParts): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/admin/routes',
      name: 'listRoutes',
      summary: 'Lists the rules, as the configuration has them.',
      tag,
      answer: z.strictObject({ routes: z.array(rule) }),
      handle: () => ({
        routes: rules().map(({ name: called, from, when, to, priority, fallback }, at) => ({
          route: at,
          ...(called !== undefined ? { name: called } : {}),
          from: [...from],
          ...(when !== undefined ? { when: { ...when } } : {}),
          to: to.map((one) => ({ ...one })),
          priority,
          fallback: [...fallback],
        })),
      }),
    }),
    route({
      method: 'POST',
      path: '/admin/routes/decide',
      name: 'decideRoute',
      summary: 'Says which rule a message would meet, and why. Nothing is sent.',
      tag,
      body: z.strictObject({
        agent: name.meta({ description: 'Whom the message would be sent to.' }),
        text: z.string().max(100_000).optional(),
        parts: z.array(json).max(100).optional().meta({ description: 'Instead of a text: parts as A2A 1.0 has them.' }),
        skill: z.string().optional(),
        metadata: json.optional(),
        caller: name.optional().meta({ description: 'Who would send it. Default: whoever asks.' }),
        scopes: z.array(z.string()).optional().meta({ description: 'What the caller may use. Default: every agent.' }),
      }),
      answer: decision,
      handle({ body, who }) {
        if (!hasAgent(body.agent)) throw notFound()
        const caller: Caller = { id: body.caller ?? `console|${who.subject}`, scopes: body.scopes ?? ['agent:*'] }
        const metadata = { ...body.metadata, ...(body.skill !== undefined ? { skillId: body.skill } : {}) } as Struct
        const parts = (body.parts ?? [{ text: body.text ?? '' }]) as unknown as readonly Part[]
        const { candidates, considered, to, ...rest } = suppose(body.agent, { caller, message: { parts, metadata } })
        return {
          ...rest,
          to: [...to],
          candidates: candidates.map((one) => ({ ...one })),
          considered: considered.map((one) => ({ ...one })),
        }
      },
    }),
  ]
}
