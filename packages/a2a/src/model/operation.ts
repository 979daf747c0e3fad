/** The eleven operations of A2A with their requests and results. */
import type { AgentCard } from './card.ts'
import type { TaskState } from './state.ts'
import type { Message, StreamEvent, Struct, Task } from './task.ts'

/** How the client wants a message to be answered. */
export interface SendMessageConfiguration {
  /** Media types that the client accepts. Default: all. */
  readonly acceptedOutputModes?: readonly string[]
  readonly taskPushNotificationConfig?: TaskPushNotificationConfig
  /** How many messages of the history the result holds at most. Default: all. */
  readonly historyLength?: number
  /** Return the task at once instead of waiting until the turn is over. Default false. */
  readonly returnImmediately?: boolean
}
/** Request of SendMessage and SendStreamingMessage. */
export interface SendMessageRequest {
  readonly tenant?: string
  readonly message: Message
  readonly configuration?: SendMessageConfiguration
  readonly metadata?: Struct
}
/** Result of SendMessage: a task, or a direct message. */
export type SendMessageResponse = { readonly task: Task } | { readonly message: Message }

/** Request of GetTask. */
export interface GetTaskRequest {
  readonly tenant?: string
  readonly id: string
  readonly historyLength?: number
}
/** Request of ListTasks. Omitted fields match all tasks of the caller. */
export interface ListTasksRequest {
  readonly tenant?: string
  readonly contextId?: string
  readonly status?: TaskState
  /** 1 to 100. Default 50. */
  readonly pageSize?: number
  /** `nextPageToken` of the page before. */
  readonly pageToken?: string
  readonly historyLength?: number
  /** Only tasks whose status was set at or after this time (ISO 8601). */
  readonly statusTimestampAfter?: string
  /** Default false. */
  readonly includeArtifacts?: boolean
}
/** Result of ListTasks: one page, newest status first. */
export interface ListTasksResponse {
  readonly tasks: readonly Task[]
  /** Empty on the last page. */
  readonly nextPageToken: string
  readonly pageSize: number
  /** All matches, whatever the page. */
  readonly totalSize: number
}
/** Request of CancelTask. */
export interface CancelTaskRequest {
  readonly tenant?: string
  readonly id: string
  readonly metadata?: Struct
}
/** Request of SubscribeToTask. */
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
/** The name of an operation of A2A, as 1.0 spells it. */
export type Operation = keyof Operations
export type RequestOf<O extends Operation> = Operations[O]['request']
export type ResultOf<O extends Operation> = Operations[O]['result']
