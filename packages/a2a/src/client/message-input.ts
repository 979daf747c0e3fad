/** Converts a message input to the request to send. */
import { newId } from '../model/id.ts'
import { omitUndefined } from '../model/struct.ts'
import type { SendMessageConfiguration, SendMessageRequest } from '../model/operation.ts'
import type { Part } from '../model/task.ts'
import type { Attachment, MessageInput, SendOptions } from './contract.ts'

export async function toSendMessageRequest(
  input: MessageInput,
  options: SendOptions = {},
): Promise<SendMessageRequest> {
  const { taskId, contextId, messageId = newId(), referenceTaskIds, data, metadata, push } = options
  const { acceptedOutputModes, historyLength, returnImmediately } = options
  const given = typeof input === 'string' ? { parts: [{ text: input }] } : isParts(input) ? { parts: input } : input
  const files = await Promise.all((options.files ?? []).map(toPart))
  const configuration: SendMessageConfiguration = omitUndefined({
    acceptedOutputModes,
    historyLength,
    returnImmediately,
    taskPushNotificationConfig: push,
  })
  return {
    message: {
      messageId,
      role: 'ROLE_USER',
      ...omitUndefined({ taskId, contextId, referenceTaskIds }),
      ...given,
      parts: [...given.parts, ...(data !== undefined ? [{ data }] : []), ...files],
    },
    ...(Object.keys(configuration).length > 0 ? { configuration } : {}),
    ...(metadata !== undefined ? { metadata } : {}),
  }
}

function isParts(input: MessageInput): input is readonly Part[] {
  return Array.isArray(input)
}

async function toPart(file: Attachment): Promise<Part> {
  if (file instanceof URL) return { url: file.href }
  if ('size' in file || 'bytes' in file || 'byteLength' in file)
    return (await import('./attachment-part.ts')).attachmentToPart(file)
  return file
}
