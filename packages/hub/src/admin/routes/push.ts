/** `/admin/push`: webhooks of all tasks, what became of each try, and another try. */
import type { Store } from '@parley/a2a'
import type { HandlerPush } from '@parley/a2a/server'
import { z } from 'zod'
import { notFound, RouteError } from '../answer.ts'
import { limit, name } from '../fields.ts'
import { type PushSearchDesk, searchPush } from '../push-search.ts'
import { pushAttempt, pushCursor, pushState, pushSummary, shownAttempt, shownCursor, summaryOf } from '../push-view.ts'
import { type Route, route, Told } from '../route.ts'

export interface PushRouteParts {
  readonly store: Pick<Store, 'load' | 'read' | 'loadSnapshot'>
  push(): Promise<(PushSearchDesk & Pick<HandlerPush, 'cursors' | 'redeliver'>) | undefined>
}

const tag = 'Push'
const params = z.object({ taskId: name, configId: name })

export function pushRoutes({ store, push }: PushRouteParts): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/admin/push',
      name: 'listPush',
      summary: 'Lists webhooks, the ones made last first. With `state=dead`: the dead letters.',
      description:
        'With an agent or a text, a page may be short or empty while there are more: each looks through so many and no further.',
      tag,
      query: z.strictObject({
        limit: limit(50, 500),
        before: z.coerce.number().int().optional(),
        state: pushState.optional(),
        agent: name.optional(),
        text: z.string().min(1).max(200).optional().meta({
          description: 'In the address, an id, the first message of the task, or what the last try came to.',
        }),
      }),
      answer: z.strictObject({ push: z.array(pushSummary), before: z.number().optional() }),
      async handle({ query }) {
        const page = await searchPush(store, await deskOf(), query)
        return { push: [...page.push], ...(page.before !== undefined ? { before: page.before } : {}) }
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
      answer: z.strictObject({ ...pushSummary.shape, attempts: z.array(pushAttempt) }),
      async handle({ params: { taskId, configId }, query }) {
        const desk = await deskOf()
        const cursor = (await desk.cursors(taskId)).find(({ id }) => id === configId)
        if (cursor === undefined) throw notFound()
        const attempts = await desk.attempts(taskId, configId, query.limit)
        return { ...(await summaryOf(store, taskId, cursor, attempts)), attempts: attempts.map(shownAttempt) }
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
