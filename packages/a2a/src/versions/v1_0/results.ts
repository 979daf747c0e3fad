/** What 1.0 servers answer, read forgivingly. */
import type {
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  Operation,
  ResultOf,
  SendMessageResponse,
} from '../../model/operation.ts'
import { anyCard } from '../decode-card.ts'
import { complain, integer, list, text, then } from '../read.ts'
import type { Read } from '../read.ts'
import { required, shape } from '../shape.ts'
import { event, task } from './objects.ts'
import { pushConfig } from './requests.ts'

const sendResult: Read<SendMessageResponse> = then(event, (given, reader) =>
  'task' in given || 'message' in given ? given : complain(reader, 'must have one of task and message'),
)

const taskPage: Read<ListTasksResponse> = shape<ListTasksResponse>({
  tasks: required(list(task), { fallback: [] }),
  nextPageToken: required(text, { fallback: '' }),
  pageSize: required(integer(0), { fallback: 0 }),
  totalSize: required(integer(0), { fallback: 0 }),
})

const configPage: Read<ListTaskPushNotificationConfigsResponse> = shape<ListTaskPushNotificationConfigsResponse>({
  configs: required(list(pushConfig), { fallback: [] }),
  nextPageToken: required(text, { fallback: '' }),
})

export const results: { readonly [O in Operation]: Read<ResultOf<O>> } = {
  SendMessage: sendResult,
  SendStreamingMessage: event,
  GetTask: task,
  ListTasks: taskPage,
  CancelTask: task,
  SubscribeToTask: event,
  CreateTaskPushNotificationConfig: pushConfig,
  GetTaskPushNotificationConfig: pushConfig,
  ListTaskPushNotificationConfigs: configPage,
  DeleteTaskPushNotificationConfig: () => undefined,
  GetExtendedAgentCard: anyCard,
}
