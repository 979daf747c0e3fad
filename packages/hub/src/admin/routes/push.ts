/** `/admin/push`: webhooks of all tasks, their attempts, and redelivery. */
import type { Store } from '@parley/a2a/stores'
import type { HandlerPush } from '@parley/a2a/internal'
import { z } from 'zod'
import { notFoundError, RouteError } from '../../http/json-response.ts'
import { limitField, nameField, type AdminRoute, jsonRoute, RouteResult, taggedRoutes } from '../route.ts'
import {
  type PushSearchSource,
  searchPush,
  pushAttempt,
  pushCursor,
  pushState,
  pushSummary,
  pushAttemptToJson,
  pushCursorToJson,
  loadPushSummary,
} from '../push-view.ts'

export interface PushRoutesDeps {
  readonly store: Pick<Store, 'tasks'>
  push(): Promise<(PushSearchSource & Pick<HandlerPush, 'cursors' | 'redeliver'>) | undefined>
}

const params = z.object({ taskId: nameField, configId: nameField })

export function pushRoutes({ store, push }: PushRoutesDeps): readonly AdminRoute[] {
  return taggedRoutes('Push', [
    jsonRoute('GET /admin/push', {
      name: 'listPush',
      summary: 'Lists webhooks, newest first. `state=dead` lists those whose delivery failed.',
      description:
        'With `agent` or `text`, a page can be short or empty although more follow: each page searches a limited number.',
      query: z.strictObject({
        limit: limitField(50, 500),
        before: z.coerce.number().int().optional(),
        state: pushState.optional(),
        agent: nameField.optional(),
        text: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .describe('In the URL, an id, the first message of the task, or the last result.'),
      }),
      response: z.strictObject({ push: z.array(pushSummary), before: z.number().optional() }),
      async handle({ query }) {
        const page = await searchPush(store, await requirePush(), query)
        return { push: [...page.push], ...(page.before !== undefined ? { before: page.before } : {}) }
      },
    }),
    jsonRoute('GET /admin/push/{taskId}/{configId}', {
      name: 'getPush',
      summary: 'Shows a webhook with its last attempts, newest first.',
      params,
      query: z.strictObject({ limit: limitField(50, 500) }),
      response: z.strictObject({ ...pushSummary.shape, attempts: z.array(pushAttempt) }),
      async handle({ params: { taskId, configId }, query }) {
        const pushHandler = await requirePush()
        const cursor = (await pushHandler.cursors(taskId)).find(({ id }) => id === configId)
        if (cursor === undefined) throw notFoundError()
        const attempts = await pushHandler.attempts(taskId, configId, query.limit)
        return {
          ...(await loadPushSummary(store, taskId, cursor, attempts)),
          attempts: attempts.map(pushAttemptToJson),
        }
      },
    }),
    jsonRoute('POST /admin/push/{taskId}/{configId}/redeliver', {
      name: 'redeliver',
      summary: 'Redelivers immediately, also after delivery failed permanently.',
      params,
      body: z
        .strictObject({
          afterSeq: z
            .int()
            .min(0)
            .optional()
            .describe('Starts after this event. Default: with the first undelivered one.'),
        })
        .optional(),
      response: pushCursor,
      async handle({ params: { taskId, configId }, body }) {
        const pushHandler = await requirePush()
        if (!(await pushHandler.redeliver(taskId, configId, body?.afterSeq))) throw notFoundError()
        const cursor = (await pushHandler.cursors(taskId)).find(({ id }) => id === configId)
        if (cursor === undefined) throw notFoundError()
        return new RouteResult(pushCursorToJson(taskId, cursor), { auditTarget: { task: taskId } })
      },
    }),
  ])

  async function requirePush() {
    const pushHandler = await push()
    if (pushHandler === undefined)
      throw new RouteError('UNAVAILABLE', 'Push notifications are disabled: set `push` in the configuration')
    return pushHandler
  }
}
