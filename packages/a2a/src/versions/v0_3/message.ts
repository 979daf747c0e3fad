/** Messages and artifacts of 0.x. The proto calls a message's parts `content` and has no `referenceTaskIds`. */
import { isStruct } from '../../model/struct.ts'
import { clientToolsExtension } from '../../model/extension.ts'
import type { Artifact, Json, Message, Struct } from '../../model/task.ts'
import { required, role, shape, copyFields } from '../shape.ts'
import type { FieldReader } from '../read.ts'
import { addViolation, anyJson, list, nonEmptyText, struct, mapRead, optionalText, textList } from '../read.ts'
import { vocabularyOf, type LegacyForm } from './form.ts'
import { partReader, writePart } from './parts.ts'

/** The metadata key that replaces the missing field of the proto (§5.2). */
const referencesKey = 'referenceTaskIds'

type LegacyMessage = Message & { readonly kind?: never; readonly inputRequest?: Json }

/** Examples leave `kind` out; another value means another object. */
const messageKind: FieldReader<never> = (reader, value) =>
  value === 'message' || reader.forgiving ? undefined : addViolation(reader, 'must be "message"')

export function messageReader(form: LegacyForm): FieldReader<Message> {
  const fields = shape<LegacyMessage>({
    kind: messageKind,
    messageId: required(nonEmptyText, { fallback: '' }),
    contextId: optionalText,
    taskId: optionalText,
    role: required(role, { fallback: 'ROLE_AGENT' }),
    parts: required(list(partReader(form), 1), {
      fallback: [],
      names: form === 'json' ? ['parts', 'content'] : ['content', 'parts'],
    }),
    metadata: struct,
    extensions: textList,
    referenceTaskIds: textList,
    inputRequest: anyJson,
  })
  return mapRead(fields, (given) => {
    const message = given.inputRequest === undefined ? given : questionOf(given)
    return form === 'proto' ? referencesOf(message) : message
  })
}

/** Some peers put a client-tool request beside the parts; extension data belongs under its URI (B-146). */
function questionOf(given: LegacyMessage): Message {
  const { inputRequest, ...message } = given
  const ours = message.metadata?.[clientToolsExtension]
  const extended = { ...(isStruct(ours) ? ours : {}), inputRequest: inputRequest as Json }
  return { ...message, metadata: { ...message.metadata, [clientToolsExtension]: extended } }
}

function referencesOf(message: Message): Message {
  const carried = message.metadata?.[referencesKey]
  if (message.referenceTaskIds !== undefined || !Array.isArray(carried)) return message
  if (!carried.every((id) => typeof id === 'string')) return message
  const { [referencesKey]: _carried, ...rest } = message.metadata as Struct
  const { metadata: _metadata, ...bare } = message
  return { ...bare, ...(Object.keys(rest).length > 0 && { metadata: rest }), referenceTaskIds: carried }
}

export function writeMessage(message: Message, form: LegacyForm): Record<string, unknown> {
  const parts = message.parts.map((part) => writePart(part, form))
  const role = vocabularyOf[form].roles[message.role]
  if (form === 'json') {
    const out = { kind: 'message', messageId: message.messageId, role, parts }
    return copyFields(out, message, 'contextId', 'taskId', 'metadata', 'extensions', 'referenceTaskIds')
  }
  const out = { messageId: message.messageId, role, content: parts }
  const references = message.referenceTaskIds
  if (references === undefined) return copyFields(out, message, 'contextId', 'taskId', 'metadata', 'extensions')
  const metadata = { ...message.metadata, [referencesKey]: references }
  return copyFields(out, { ...message, metadata }, 'contextId', 'taskId', 'metadata', 'extensions')
}

export function artifactReader(form: LegacyForm): FieldReader<Artifact> {
  return shape<Artifact>({
    artifactId: required(nonEmptyText, { fallback: '' }),
    name: optionalText,
    description: optionalText,
    parts: required(list(partReader(form), 1), { fallback: [] }),
    metadata: struct,
    extensions: textList,
  })
}

export function writeArtifact(artifact: Artifact, form: LegacyForm): Record<string, unknown> {
  const out = copyFields({}, artifact, 'artifactId', 'name', 'description')
  out['parts'] = artifact.parts.map((part) => writePart(part, form))
  return copyFields(out, artifact, 'metadata', 'extensions')
}
