/**
 * What gRPC calls the operations of each version, as data: bindings know no field of a payload. Apart from the versions'
 * other spellings, because a page that calls agents over HTTP should not have to load it.
 */
import type { ErrorCode } from '../model/error.ts'
import type { Operation } from '../model/operation.ts'
import type { VersionId } from './version.ts'

export interface Rpcs {
  readonly service: string
  /** Absent = there is no such rpc. */
  readonly rpcs: Partial<Readonly<Record<Operation, Rpc>>>
  /** Where an error has another status than the table says. */
  readonly statuses?: Partial<Readonly<Record<ErrorCode, 'UNIMPLEMENTED'>>>
}

export interface Rpc {
  readonly name: string
  /**
   * Fields of the request that name a resource by the plain ids of the payload: `{ name: 'tasks/{id}' }`. A name ends
   * before the first id that is missing.
   */
  readonly resources?: Readonly<Record<string, string>>
}

const task = { name: 'tasks/{id}' }
const pushConfig = { name: 'tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}' }

/** 0.2 shares the package. Neither has a way to list tasks. */
const legacy: Rpcs = {
  service: 'a2a.v1.A2AService',
  rpcs: {
    SendMessage: { name: 'SendMessage' },
    SendStreamingMessage: { name: 'SendStreamingMessage' },
    GetTask: { name: 'GetTask', resources: task },
    CancelTask: { name: 'CancelTask', resources: task },
    SubscribeToTask: { name: 'TaskSubscription', resources: task },
    CreateTaskPushNotificationConfig: { name: 'CreateTaskPushNotificationConfig' },
    GetTaskPushNotificationConfig: { name: 'GetTaskPushNotificationConfig', resources: pushConfig },
    ListTaskPushNotificationConfigs: { name: 'ListTaskPushNotificationConfig', resources: { parent: 'tasks/{id}' } },
    DeleteTaskPushNotificationConfig: { name: 'DeleteTaskPushNotificationConfig', resources: pushConfig },
    GetExtendedAgentCard: { name: 'GetAgentCard' },
  },
  // There was no table then, and clients of 0.3 decide by the status alone: by these two, as their servers had them.
  statuses: { PUSH_NOTIFICATION_NOT_SUPPORTED: 'UNIMPLEMENTED', UNSUPPORTED_OPERATION: 'UNIMPLEMENTED' },
}

export const rpcsOf: Readonly<Record<VersionId, Rpcs>> = {
  '1.0': {
    service: 'lf.a2a.v1.A2AService',
    rpcs: {
      SendMessage: { name: 'SendMessage' },
      SendStreamingMessage: { name: 'SendStreamingMessage' },
      GetTask: { name: 'GetTask' },
      ListTasks: { name: 'ListTasks' },
      CancelTask: { name: 'CancelTask' },
      SubscribeToTask: { name: 'SubscribeToTask' },
      CreateTaskPushNotificationConfig: { name: 'CreateTaskPushNotificationConfig' },
      GetTaskPushNotificationConfig: { name: 'GetTaskPushNotificationConfig' },
      ListTaskPushNotificationConfigs: { name: 'ListTaskPushNotificationConfigs' },
      DeleteTaskPushNotificationConfig: { name: 'DeleteTaskPushNotificationConfig' },
      GetExtendedAgentCard: { name: 'GetExtendedAgentCard' },
    },
  },
  '0.3': legacy,
  '0.2': legacy,
}
