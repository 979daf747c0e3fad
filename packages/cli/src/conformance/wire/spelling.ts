/**
 * How each version and binding spells an operation. Checks write requests in the JSON of 1.0; unknown and invalid fields pass through,
 * so that one wrong request can be sent in every dialect.
 */
import type { BindingName, VersionName } from '../verdict.ts'

export type OperationName =
  | 'SendMessage'
  | 'SendStreamingMessage'
  | 'GetTask'
  | 'ListTasks'
  | 'CancelTask'
  | 'SubscribeToTask'
  | 'CreateTaskPushNotificationConfig'
  | 'GetTaskPushNotificationConfig'
  | 'ListTaskPushNotificationConfigs'
  | 'DeleteTaskPushNotificationConfig'
  | 'GetExtendedAgentCard'

export type JsonObject = Readonly<Record<string, unknown>>

/** `json`: 0.2 and 0.3 over JSON-RPC, with `kind`. `proto`: 0.3 over REST and gRPC. */
export type Dialect = '1.0' | '0.x json' | '0.3 proto'

export function dialectOf(version: VersionName, binding: BindingName): Dialect {
  if (version === '1.0') return '1.0'
  return binding === 'JSONRPC' ? '0.x json' : '0.3 proto'
}

const legacyMethods: Partial<Readonly<Record<OperationName, string>>> = {
  SendMessage: 'message/send',
  SendStreamingMessage: 'message/stream',
  GetTask: 'tasks/get',
  ListTasks: 'tasks/list',
  CancelTask: 'tasks/cancel',
  SubscribeToTask: 'tasks/resubscribe',
  CreateTaskPushNotificationConfig: 'tasks/pushNotificationConfig/set',
  GetTaskPushNotificationConfig: 'tasks/pushNotificationConfig/get',
  ListTaskPushNotificationConfigs: 'tasks/pushNotificationConfig/list',
  DeleteTaskPushNotificationConfig: 'tasks/pushNotificationConfig/delete',
  GetExtendedAgentCard: 'agent/getAuthenticatedExtendedCard',
}

export function rpcMethodName(version: VersionName, operation: OperationName): string {
  return version === '1.0' ? operation : (legacyMethods[operation] ?? operation)
}

const legacyRpcs: Partial<Readonly<Record<OperationName, string>>> = {
  SubscribeToTask: 'TaskSubscription',
  ListTaskPushNotificationConfigs: 'ListTaskPushNotificationConfig',
  GetExtendedAgentCard: 'GetAgentCard',
}

export function grpcRpcName(
  version: VersionName,
  operation: OperationName,
): { readonly service: string; readonly rpc: string } {
  if (version === '1.0') return { service: 'lf.a2a.v1.A2AService', rpc: operation }
  return { service: 'a2a.v1.A2AService', rpc: legacyRpcs[operation] ?? operation }
}

export interface RestRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below the URL of the interface, with its query. */
  readonly path: string
  readonly body: unknown
}

/** `payload` is already in the dialect. Path parameters leave it, and what a GET has left is its query. */
export function restRequest(
  version: VersionName,
  operation: OperationName,
  payload: JsonObject,
  tenant?: string,
): RestRequest {
  const prefix =
    version === '1.0' ? (tenant === undefined || tenant === '' ? '' : `/${encodeURIComponent(tenant)}`) : '/v1'
  const { id, taskId, tenant: _tenant, ...others } = payload
  const segment = (value: unknown): string => encodeURIComponent(typeof value === 'string' ? value : String(value))
  const configs = (ofTask: unknown): string => `${prefix}/tasks/${segment(ofTask)}/pushNotificationConfigs`
  switch (operation) {
    case 'SendMessage':
      return { method: 'POST', path: `${prefix}/message:send`, body: payload }
    case 'SendStreamingMessage':
      return { method: 'POST', path: `${prefix}/message:stream`, body: payload }
    case 'GetTask':
      return { method: 'GET', path: `${prefix}/tasks/${segment(id)}${query(others)}`, body: undefined }
    case 'ListTasks':
      return { method: 'GET', path: `${prefix}/tasks${query(others)}`, body: undefined }
    case 'CancelTask':
      return { method: 'POST', path: `${prefix}/tasks/${segment(id)}:cancel`, body: others }
    case 'SubscribeToTask':
      return { method: 'POST', path: `${prefix}/tasks/${segment(id)}:subscribe`, body: others }
    case 'CreateTaskPushNotificationConfig':
      return {
        method: 'POST',
        path: configs(taskId),
        body: version === '1.0' ? { ...others, ...(id === undefined ? {} : { id }) } : payload['config'],
      }
    case 'GetTaskPushNotificationConfig':
      return { method: 'GET', path: `${configs(taskId)}/${segment(id)}`, body: undefined }
    case 'ListTaskPushNotificationConfigs':
      return { method: 'GET', path: `${configs(taskId)}${query(others)}`, body: undefined }
    case 'DeleteTaskPushNotificationConfig':
      return { method: 'DELETE', path: `${configs(taskId)}/${segment(id)}`, body: undefined }
    case 'GetExtendedAgentCard':
      return { method: 'GET', path: version === '1.0' ? `${prefix}/extendedAgentCard` : '/v1/card', body: undefined }
  }
}

function query(fields: JsonObject): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) parameters.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return parameters.size > 0 ? `?${parameters.toString()}` : ''
}
