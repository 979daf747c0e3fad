/** The names and paths of 1.0. Each REST path exists a second time under the caller's tenant (B-165). */
import type { Route, Spelling } from '../version.ts'

const routes: readonly Route[] = [
  { operation: 'SendMessage', verb: 'POST', path: '/message:send', body: true },
  { operation: 'SendStreamingMessage', verb: 'POST', path: '/message:stream', body: true },
  {
    operation: 'ListTasks',
    verb: 'GET',
    path: '/tasks',
    query: [
      'contextId',
      'status',
      'pageSize',
      'pageToken',
      'historyLength',
      'statusTimestampAfter',
      'includeArtifacts',
      'tenant',
    ],
  },
  // Verbs before the bare id, which would match them too (F-9).
  { operation: 'CancelTask', verb: 'POST', path: '/tasks/{id}:cancel', body: true },
  // The text says POST, the proto GET: both are served, POST is written.
  { operation: 'SubscribeToTask', verb: 'POST', path: '/tasks/{id}:subscribe', body: true },
  { operation: 'SubscribeToTask', verb: 'GET', path: '/tasks/{id}:subscribe', query: ['tenant'] },
  { operation: 'GetTask', verb: 'GET', path: '/tasks/{id}', query: ['historyLength', 'tenant'] },
  {
    operation: 'CreateTaskPushNotificationConfig',
    verb: 'POST',
    path: '/tasks/{taskId}/pushNotificationConfigs',
    body: true,
  },
  {
    operation: 'ListTaskPushNotificationConfigs',
    verb: 'GET',
    path: '/tasks/{taskId}/pushNotificationConfigs',
    query: ['pageSize', 'pageToken', 'tenant'],
  },
  {
    operation: 'GetTaskPushNotificationConfig',
    verb: 'GET',
    path: '/tasks/{taskId}/pushNotificationConfigs/{id}',
    query: ['tenant'],
  },
  {
    operation: 'DeleteTaskPushNotificationConfig',
    verb: 'DELETE',
    path: '/tasks/{taskId}/pushNotificationConfigs/{id}',
    query: ['tenant'],
  },
  { operation: 'GetExtendedAgentCard', verb: 'GET', path: '/extendedAgentCard', query: ['tenant'] },
]

function underTenant(route: Route): Route {
  const { query, ...rest } = route
  const path = `/{tenant}${route.path}`
  return query === undefined ? { ...rest, path } : { ...rest, path, query: query.filter((name) => name !== 'tenant') }
}

export const spelling: Spelling = {
  // Each is named as its operation.
  methods: Object.fromEntries(routes.map(({ operation }) => [operation, operation])),
  routes: [...routes, ...routes.map(underTenant)],
  restMediaType: 'application/a2a+json',
  extensionsHeader: 'A2A-Extensions',
  grpc: { service: 'lf.a2a.v1.A2AService' },
}
