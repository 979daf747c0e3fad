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
    ],
  },
  // Verbs before the bare id, which would match them too (F-9).
  { operation: 'CancelTask', verb: 'POST', path: '/tasks/{id}:cancel', body: true },
  // The text says POST, the proto GET: both are served, POST is written.
  { operation: 'SubscribeToTask', verb: 'POST', path: '/tasks/{id}:subscribe', body: true },
  { operation: 'SubscribeToTask', verb: 'GET', path: '/tasks/{id}:subscribe' },
  { operation: 'GetTask', verb: 'GET', path: '/tasks/{id}', query: ['historyLength'] },
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
    query: ['pageSize', 'pageToken'],
  },
  {
    operation: 'GetTaskPushNotificationConfig',
    verb: 'GET',
    path: '/tasks/{taskId}/pushNotificationConfigs/{id}',
  },
  {
    operation: 'DeleteTaskPushNotificationConfig',
    verb: 'DELETE',
    path: '/tasks/{taskId}/pushNotificationConfigs/{id}',
  },
  { operation: 'GetExtendedAgentCard', verb: 'GET', path: '/extendedAgentCard' },
]

/** Requests without a body name their tenant in the query. */
const withTenantQuery = (route: Route): Route =>
  route.body === true ? route : { ...route, query: [...(route.query ?? []), 'tenant'] }

export const spelling: Spelling = {
  // Each is named as its operation.
  methods: Object.fromEntries(routes.map(({ operation }) => [operation, operation])),
  routes: [...routes.map(withTenantQuery), ...routes.map((route) => ({ ...route, path: `/{tenant}${route.path}` }))],
  restMediaType: 'application/a2a+json',
  extensionsHeader: 'A2A-Extensions',
  grpc: { service: 'lf.a2a.v1.A2AService' },
}
