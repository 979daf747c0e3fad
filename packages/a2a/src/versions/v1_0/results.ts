/** Reads responses of 1.0 servers, forgivingly. */
import type {
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  Operation,
  ResultOf,
  SendMessageResponse,
} from '../../model/operation.ts'
import { anyCard } from '../decode-card.ts'
import { addViolation, integer, list, text, mapRead } from '../read.ts'
import type { FieldReader } from '../read.ts'
import { required, shape } from '../shape.ts'
import { readEvent, readTask } from './objects.ts'
import { pushConfig } from './requests.ts'

const sendResult: FieldReader<SendMessageResponse> = mapRead(readEvent, (given, reader) =>
  'task' in given || 'message' in given ? given : addViolation(reader, 'must have one of task and message'),
)

const taskPage: FieldReader<ListTasksResponse> = shape<ListTasksResponse>({
  tasks: required(list(readTask), { fallback: [] }),
  nextPageToken: required(text, { fallback: '' }),
  pageSize: required(integer(0), { fallback: 0 }),
  totalSize: required(integer(0), { fallback: 0 }),
})

const configPage: FieldReader<ListTaskPushNotificationConfigsResponse> = shape<ListTaskPushNotificationConfigsResponse>(
  {
    configs: required(list(pushConfig), { fallback: [] }),
    nextPageToken: required(text, { fallback: '' }),
  },
)

export const results: { readonly [O in Operation]: FieldReader<ResultOf<O>> } = {
  SendMessage: sendResult,
  SendStreamingMessage: readEvent,
  GetTask: readTask,
  ListTasks: taskPage,
  CancelTask: readTask,
  SubscribeToTask: readEvent,
  CreateTaskPushNotificationConfig: pushConfig,
  GetTaskPushNotificationConfig: pushConfig,
  ListTaskPushNotificationConfigs: configPage,
  DeleteTaskPushNotificationConfig: () => undefined,
  GetExtendedAgentCard: anyCard,
}
