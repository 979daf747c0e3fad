/** `/admin/routes`: the routing rules, and dry runs. */
import type { Caller, Part, Struct } from '@parley/a2a'
import { z } from 'zod'
import type { Route as RoutingRule } from '../../config/sections/routes.ts'
import type { RouteDecision } from '../../routing/decide-route.ts'
import type { DryRunMessage } from '../../routing/routing.ts'
import { notFoundError } from '../../http/json-response.ts'
import { jsonObject, nameField, type AdminRoute, jsonRoute, taggedRoutes } from '../route.ts'

export interface RoutingRoutesDeps {
  rules(): readonly RoutingRule[]
  /** Which rule a message would match, and why. Nothing is sent. */
  dryRun(agent: string, supposed: DryRunMessage): RouteDecision
  hasAgent(name: string): boolean
}

const ruleSchema = z
  .strictObject({
    route: z.int().describe('Its place in the configuration, from 0.'),
    name: z.string().optional(),
    from: z.array(z.string()),
    when: jsonObject.optional(),
    to: z.array(z.strictObject({ agent: z.string(), weight: z.number() })),
    priority: z.int(),
    fallback: z.array(z.string()),
  })
  .meta({ id: 'Route' })

const decisionSchema = z
  .strictObject({
    route: z.int().optional().describe('The matching route; absent if the agent does the work itself.'),
    name: z.string().optional(),
    why: z.string(),
    to: z.array(z.string()).describe('The candidates, best first. Empty if none is available.'),
    candidates: z.array(
      z.strictObject({ agent: z.string(), state: z.enum(['up', 'slow', 'down', 'over']), why: z.string().optional() }),
    ),
    considered: z.array(
      z.strictObject({ route: z.int(), name: z.string().optional(), fits: z.boolean(), why: z.string() }),
    ),
  })
  .meta({ id: 'RouteDecision' })

export function routingRoutes({ rules, dryRun, hasAgent }: RoutingRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Routes', [
    jsonRoute('GET /admin/routes', {
      name: 'listRoutes',
      summary: 'Lists the routes of the configuration.',
      response: z.strictObject({ routes: z.array(ruleSchema) }),
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
    jsonRoute('POST /admin/routes/decide', {
      name: 'decideRoute',
      summary: 'Shows which route a message would take, and why. Sends nothing.',
      body: z.strictObject({
        agent: nameField.describe('The agent that would receive the message.'),
        text: z.string().max(100_000).optional(),
        parts: z.array(jsonObject).max(100).optional().describe('Instead of a text: parts as in A2A 1.0.'),
        skill: z.string().optional(),
        metadata: jsonObject.optional(),
        caller: nameField.optional().describe('The caller of the message. Default: the caller of this request.'),
        scopes: z.array(z.string()).optional().describe('The scopes of the caller. Default: every agent.'),
      }),
      response: decisionSchema,
      handle({ body, who }) {
        if (!hasAgent(body.agent)) throw notFoundError()
        const caller: Caller = { id: body.caller ?? `console|${who.subject}`, scopes: body.scopes ?? ['agent:*'] }
        const metadata = { ...body.metadata, ...(body.skill !== undefined ? { skillId: body.skill } : {}) } as Struct
        const parts = (body.parts ?? [{ text: body.text ?? '' }]) as unknown as readonly Part[]
        const { candidates, considered, to, ...rest } = dryRun(body.agent, { caller, message: { parts, metadata } })
        return {
          ...rest,
          to: [...to],
          candidates: candidates.map((one) => ({ ...one })),
          considered: considered.map((one) => ({ ...one })),
        }
      },
    }),
  ])
}
