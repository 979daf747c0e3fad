/** Why an accepted message should have been refused: the minimum that every version requires (B-38, B-39). */
import { isJsonObject } from './shape.ts'
import type { VersionId } from './tables.ts'

const userRoles: readonly unknown[] = ['ROLE_USER', 'user', 1, '1']

export function invalidReasonIn(payload: unknown, version: VersionId): string | undefined {
  if (!isJsonObject(payload)) return 'the parameters are not an object'
  const message = payload['message'] ?? payload['request']
  if (!isJsonObject(message)) return 'there is no message'
  const messageId = message['messageId'] ?? message['message_id'] ?? payload['messageId']
  if (typeof messageId !== 'string' || messageId === '') return 'the messageId is not a string that says something'
  if (!userRoles.includes(message['role'])) return `the role is ${JSON.stringify(message['role'])}`
  // The proto of 0.3 calls them `content`; which of the two is the known name, and which is ignored, is the dialect's choice.
  const lists = [message['parts'], message['content']].filter((list) => Array.isArray(list) && list.length > 0)
  if (lists.length === 0) return 'there are no parts'
  const complaints = lists.map((list) => invalidReasonInParts(list as readonly unknown[], version))
  return (complaints.includes(undefined) ? undefined : complaints[0]) ?? invalidFieldIn(payload, message)
}

function invalidReasonInParts(parts: readonly unknown[], version: VersionId): string | undefined {
  if (parts.length > 1_000) return 'there are more than 1,000 parts'
  return parts.map((part) => invalidReasonInPart(part, version)).find((found) => found !== undefined)
}

function invalidReasonInPart(part: unknown, version: VersionId): string | undefined {
  if (!isJsonObject(part)) return 'a part is not an object'
  const { text, raw, url, metadata } = part
  // Before 1.0 `raw` and `url` are unknown fields, which are ignored (J-10).
  const contents = (version === '1.0' ? [text, raw, url] : [text]).filter(
    (value) => value !== undefined && value !== null,
  )
  // Parts of drafts have a `kind` or `type`, and may then have other keys.
  const isNamed = part['kind'] !== undefined || part['type'] !== undefined
  if (contents.length > 1 && !isNamed) return 'a part has two contents'
  if (!isNamed && contents.some((value) => typeof value !== 'string')) return 'a part has a content that is no string'
  if (metadata !== undefined && metadata !== null && !isJsonObject(metadata))
    return 'metadata of a part is not an object'
  return undefined
}

function invalidFieldIn(
  payload: Readonly<Record<string, unknown>>,
  message: Readonly<Record<string, unknown>>,
): string | undefined {
  for (const key of ['contextId', 'taskId']) {
    const id = message[key]
    if (id !== undefined && id !== null && typeof id !== 'string') return `${key} is no string`
  }
  for (const metadata of [payload['metadata'], message['metadata']]) {
    if (metadata !== undefined && metadata !== null && !isJsonObject(metadata)) return 'metadata is not an object'
  }
  const configuration = payload['configuration']
  if (configuration === undefined || configuration === null) return undefined
  if (!isJsonObject(configuration)) return 'the configuration is not an object'
  const length = configuration['historyLength']
  if (length === undefined || length === null) return undefined
  const isLength = Number.isInteger(typeof length === 'string' ? Number(length) : length) && Number(length) >= 0
  return isLength ? undefined : `historyLength is ${JSON.stringify(length)}`
}
