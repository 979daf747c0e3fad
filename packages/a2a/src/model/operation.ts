/** The eleven operations of A2A with their requests and results. */
import type { AgentCard } from './card.ts'
import type { TaskState } from './state.ts'
import type { Message, StreamEvent, Struct, Task } from './task.ts'

export interface SendMessageConfiguration {
  readonly acceptedOutputModes?: readonly string[]
  readonly taskPushNotificationConfig?: TaskPushNotificationConfig
  readonly historyLength?: number
  readonly returnImmediately?: boolean
}
export interface SendMessageRequest {
  readonly tenant?: string
  readonly message: Message
  readonly configuration?: SendMessageConfiguration
  readonly metadata?: Struct
}
export type SendMessageResponse = { readonly task: Task } | { readonly message: Message }

export interface GetTaskRequest {
  readonly tenant?: string
  readonly id: string
  readonly historyLength?: number
}
export interface ListTasksRequest {
  readonly tenant?: string
  readonly contextId?: string
  readonly status?: TaskState
  readonly pageSize?: number
  readonly pageToken?: string
  readonly historyLength?: number
  readonly statusTimestampAfter?: string
  readonly includeArtifacts?: boolean
}
export interface ListTasksResponse {
  readonly tasks: readonly Task[]
  readonly nextPageToken: string
  readonly pageSize: number
  readonly totalSize: number
}
export interface CancelTaskRequest {
  readonly tenant?: string
  readonly id: string
  readonly metadata?: Struct
}
export interface SubscribeToTaskRequest {
  readonly tenant?: string
  readonly id: string
}

export interface AuthenticationInfo {
  readonly scheme: string
  readonly credentials?: string
}
export interface TaskPushNotificationConfig {
  readonly tenant?: string
  readonly id?: string
  readonly taskId?: string
  readonly url: string
  readonly token?: string
  readonly authentication?: AuthenticationInfo
}
export interface PushNotificationConfigKey {
  readonly tenant?: string
  readonly taskId: string
  /** Optional in 0.x: the server then returns one of the configs. */
  readonly id?: string
}
export interface ListTaskPushNotificationConfigsRequest {
  readonly tenant?: string
  readonly taskId: string
  readonly pageSize?: number
  readonly pageToken?: string
}
export interface ListTaskPushNotificationConfigsResponse {
  readonly configs: readonly TaskPushNotificationConfig[]
  readonly nextPageToken: string
}
export interface GetExtendedAgentCardRequest {
  readonly tenant?: string
}

/** Each operation with its canonical request and result. The result of a stream is one of its events. */
export interface Operations {
  SendMessage: { request: SendMessageRequest; result: SendMessageResponse }
  SendStreamingMessage: { request: SendMessageRequest; result: StreamEvent }
  GetTask: { request: GetTaskRequest; result: Task }
  ListTasks: { request: ListTasksRequest; result: ListTasksResponse }
  CancelTask: { request: CancelTaskRequest; result: Task }
  SubscribeToTask: { request: SubscribeToTaskRequest; result: StreamEvent }
  CreateTaskPushNotificationConfig: { request: TaskPushNotificationConfig; result: TaskPushNotificationConfig }
  GetTaskPushNotificationConfig: { request: PushNotificationConfigKey; result: TaskPushNotificationConfig }
  ListTaskPushNotificationConfigs: {
    request: ListTaskPushNotificationConfigsRequest
    result: ListTaskPushNotificationConfigsResponse
  }
  DeleteTaskPushNotificationConfig: { request: PushNotificationConfigKey; result: undefined }
  GetExtendedAgentCard: { request: GetExtendedAgentCardRequest; result: AgentCard }
}
export type Operation = keyof Operations
export type RequestOf<O extends Operation> = Operations[O]['request']
export type ResultOf<O extends Operation> = Operations[O]['result']
