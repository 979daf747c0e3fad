/** `/admin/push`: webhooks of all tasks, what became of each try, and another try. */
import type { HandlerPush } from '@parley/a2a/server'
import { z } from 'zod'
import { notFound, RouteError, time } from '../answer.ts'
import { instant, limit, name } from '../fields.ts'
import { pushCursor, pushState, shownCursor } from '../push-view.ts'
import { type Route, route, Told } from '../route.ts'

export interface PushRouteParts {
  push(): Promise<Pick<HandlerPush, 'cursors' | 'search' | 'attempts' | 'redeliver'> | undefined>
}

const tag = 'Push'
const params = z.object({ taskId: name, configId: name })

const attempt = z.strictObject({
  seq: z.int().meta({ description: 'The event that it was about.' }),
  attempt: z.int(),
  at: instant,
  durationMs: z.number(),
  outcome: z.string().meta({ description: 'A status, or what went wrong.' }),
})

export function pushRoutes({ push }: PushRouteParts): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/admin/push',
      name: 'listPush',
      summary: 'Lists webhooks, the ones made last first. With `state=dead`: the dead letters.',
      tag,
      query: z.strictObject({
        limit: limit(50, 500),
        before: z.coerce.number().int().optional(),
        state: pushState.optional(),
      }),
      answer: z.strictObject({ push: z.array(pushCursor), before: z.number().optional() }),
      async handle({ query: { limit: most, before, state } }) {
        const page = await (
          await deskOf()
        ).search({
          limit: most,
          ...(before !== undefined ? { before } : {}),
          ...(state !== undefined ? { state } : {}),
        })
        return {
          push: page.cursors.map((cursor) => shownCursor(cursor.taskId, cursor)),
          ...(page.before !== undefined ? { before: page.before } : {}),
        }
      },
    }),
    route({
      method: 'GET',
      path: '/admin/push/{taskId}/{configId}',
      name: 'getPush',
      summary: 'Shows a webhook with its last tries, the newest first.',
      tag,
      params,
      query: z.strictObject({ limit: limit(50, 500) }),
      answer: z.strictObject({ ...pushCursor.shape, attempts: z.array(attempt) }),
      async handle({ params: { taskId, configId }, query }) {
        const desk = await deskOf()
        const cursor = (await desk.cursors(taskId)).find(({ id }) => id === configId)
        if (cursor === undefined) throw notFound()
        const attempts = await desk.attempts(taskId, configId, query.limit)
        const shown = attempts.map(({ seq, attempt: nth, at, durationMs, outcome }) => ({
          seq,
          attempt: nth,
          at: time(at),
          durationMs,
          outcome,
        }))
        return { ...shownCursor(taskId, cursor), attempts: shown }
      },
    }),
    route({
      method: 'POST',
      path: '/admin/push/{taskId}/{configId}/redeliver',
      name: 'redeliver',
      summary: 'Tries again at once, also what was given up.',
      tag,
      params,
      body: z
        .strictObject({
          afterSeq: z
            .int()
            .min(0)
            .optional()
            .meta({ description: 'Begins after this event. Default: with the first that was not delivered.' }),
        })
        .optional(),
      answer: pushCursor,
      async handle({ params: { taskId, configId }, body }) {
        const desk = await deskOf()
        if (!(await desk.redeliver(taskId, configId, body?.afterSeq))) throw notFound()
        const cursor = (await desk.cursors(taskId)).find(({ id }) => id === configId)
        if (cursor === undefined) throw notFound()
        return new Told(shownCursor(taskId, cursor), { about: { task: taskId } })
      },
    }),
  ]

  async function deskOf() {
    const desk = await push()
    if (desk === undefined)
      throw new RouteError('UNAVAILABLE', 'This hub has no webhooks: see `push` in its configuration')
    return desk
  }
}
