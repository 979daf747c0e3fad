/** What a caller says, as the request it becomes. */
import { newId } from '../model/id.ts'
import type { SendMessageConfiguration, SendMessageRequest } from '../model/operation.ts'
import type { Part } from '../model/task.ts'
import type { Attachment, Saying, SendOptions } from './contract.ts'

export async function requestOf(saying: Saying, options: SendOptions = {}): Promise<SendMessageRequest> {
  const { taskId, contextId, messageId = newId(), referenceTaskIds, data, metadata, push } = options
  const { acceptedOutputModes, historyLength, returnImmediately } = options
  const given =
    typeof saying === 'string' ? { parts: [{ text: saying }] } : isParts(saying) ? { parts: saying } : saying
  const files = await Promise.all((options.files ?? []).map(attached))
  const configuration: SendMessageConfiguration = said({
    acceptedOutputModes,
    historyLength,
    returnImmediately,
    taskPushNotificationConfig: push,
  })
  return {
    message: {
      ...said({ messageId, role: 'ROLE_USER', taskId, contextId, referenceTaskIds }),
      ...given,
      parts: [...given.parts, ...(data !== undefined ? [{ data }] : []), ...files],
    },
    ...(Object.keys(configuration).length > 0 ? { configuration } : {}),
    ...(metadata !== undefined ? { metadata } : {}),
  }
}

type Said<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** Without the members that are not there. */
function said<const T extends object>(of: T): Said<T> {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as Said<T>
}

function isParts(saying: Saying): saying is readonly Part[] {
  return Array.isArray(saying)
}

async function attached(file: Attachment): Promise<Part> {
  if (file instanceof URL) return { url: file.href }
  if ('size' in file || 'bytes' in file || 'byteLength' in file) return (await import('./attach.ts')).attach(file)
  return file
}
