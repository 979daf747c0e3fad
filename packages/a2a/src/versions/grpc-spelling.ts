/**
 * The gRPC names of the operations of each version, as data: bindings know no field of a payload. Separate from the other
 * spellings, so that a page that calls agents over HTTP need not load it.
 */
import type { ErrorCode } from '../model/error.ts'
import type { Operation } from '../model/operation.ts'
import type { VersionId } from './version.ts'

export interface GrpcSpelling {
  readonly service: string
  /** Absent: there is no such rpc. */
  readonly rpcs: Partial<Readonly<Record<Operation, RpcSpelling>>>
  /** Errors whose status differs from the table. */
  readonly statuses?: Partial<Readonly<Record<ErrorCode, 'UNIMPLEMENTED'>>>
}

export interface RpcSpelling {
  readonly name: string
  /**
   * Fields of the request that name a resource by the plain ids of the payload: `{ name: 'tasks/{id}' }`. A name ends before
   * the first id that is missing.
   */
  readonly resources?: Readonly<Record<string, string>>
}

const task = { name: 'tasks/{id}' }
const pushConfig = { name: 'tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}' }

/** 0.2 shares the package. Neither version can list tasks. */
const legacy: GrpcSpelling = {
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
  // 0.3 had no table, and its clients decide by the status alone: these two are as 0.3 servers send them.
  statuses: { PUSH_NOTIFICATION_NOT_SUPPORTED: 'UNIMPLEMENTED', UNSUPPORTED_OPERATION: 'UNIMPLEMENTED' },
}

export const grpcSpellingOf: Readonly<Record<VersionId, GrpcSpelling>> = {
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
