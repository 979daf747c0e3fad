/** The names and paths of 0.3. It cannot list tasks. */
import type { Spelling } from '../version.ts'

const task = { name: 'tasks/{id}' }
const pushConfig = { name: 'tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}' }

export const spelling: Spelling = {
  methods: {
    SendMessage: 'message/send',
    SendStreamingMessage: 'message/stream',
    GetTask: 'tasks/get',
    CancelTask: 'tasks/cancel',
    SubscribeToTask: 'tasks/resubscribe',
    CreateTaskPushNotificationConfig: 'tasks/pushNotificationConfig/set',
    GetTaskPushNotificationConfig: 'tasks/pushNotificationConfig/get',
    ListTaskPushNotificationConfigs: 'tasks/pushNotificationConfig/list',
    DeleteTaskPushNotificationConfig: 'tasks/pushNotificationConfig/delete',
    GetExtendedAgentCard: 'agent/getAuthenticatedExtendedCard',
  },
  // One section of the 0.3 document uses this name.
  aliases: { 'agent/authenticatedExtendedCard': 'GetExtendedAgentCard' },
  routes: [
    { operation: 'SendMessage', verb: 'POST', path: '/v1/message:send', body: true },
    { operation: 'SendStreamingMessage', verb: 'POST', path: '/v1/message:stream', body: true },
    // Verbs before the bare id, which would match them too (F-9).
    { operation: 'CancelTask', verb: 'POST', path: '/v1/tasks/{id}:cancel', body: true },
    // The text says POST, the proto GET: both are served, POST is written.
    { operation: 'SubscribeToTask', verb: 'POST', path: '/v1/tasks/{id}:subscribe', body: true },
    { operation: 'SubscribeToTask', verb: 'GET', path: '/v1/tasks/{id}:subscribe' },
    { operation: 'GetTask', verb: 'GET', path: '/v1/tasks/{id}', query: ['historyLength'] },
    {
      operation: 'CreateTaskPushNotificationConfig',
      verb: 'POST',
      path: '/v1/tasks/{taskId}/pushNotificationConfigs',
      body: true,
    },
    {
      operation: 'ListTaskPushNotificationConfigs',
      verb: 'GET',
      path: '/v1/tasks/{id}/pushNotificationConfigs',
      query: ['pageSize', 'pageToken'],
    },
    {
      operation: 'GetTaskPushNotificationConfig',
      verb: 'GET',
      path: '/v1/tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}',
    },
    {
      operation: 'DeleteTaskPushNotificationConfig',
      verb: 'DELETE',
      path: '/v1/tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}',
    },
    { operation: 'GetExtendedAgentCard', verb: 'GET', path: '/v1/card' },
  ],
  restMediaType: 'application/json',
  extensionsHeader: 'X-A2A-Extensions',
  grpc: {
    service: 'a2a.v1.A2AService',
    rpcs: {
      GetTask: { resources: task },
      CancelTask: { resources: task },
      SubscribeToTask: { name: 'TaskSubscription', resources: task },
      GetTaskPushNotificationConfig: { resources: pushConfig },
      ListTaskPushNotificationConfigs: { name: 'ListTaskPushNotificationConfig', resources: { parent: 'tasks/{id}' } },
      DeleteTaskPushNotificationConfig: { resources: pushConfig },
      GetExtendedAgentCard: { name: 'GetAgentCard' },
    },
    // 0.3 had no table, and its clients decide by the status alone: these two are as 0.3 servers send them.
    statuses: { PUSH_NOTIFICATION_NOT_SUPPORTED: 'UNIMPLEMENTED', UNSUPPORTED_OPERATION: 'UNIMPLEMENTED' },
  },
}
