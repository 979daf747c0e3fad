/** Messages and artifacts of 0.x. The proto calls a message's parts `content` and has no `referenceTaskIds`. */
import { clientToolsExtension } from '../../model/extension.ts'
import type { Artifact, Json, Message, Struct } from '../../model/task.ts'
import { role } from '../names.ts'
import { complain, isBag, json, list, name, struct, then, word, words } from '../read.ts'
import type { Read } from '../read.ts'
import { required, shape } from '../shape.ts'
import { carry } from '../write.ts'
import { vocabularyOf } from './form.ts'
import type { Form } from './form.ts'
import { partReader, writePart } from './parts.ts'

/** Where the proto carries what it has no field for (§5.2). */
const referencesKey = 'referenceTaskIds'

type Given = Message & { readonly kind?: never; readonly inputRequest?: Json }

/** Examples leave `kind` out; one that says something else means something else. */
const messageKind: Read<never> = (reader, value) =>
  value === 'message' || reader.forgiving ? undefined : complain(reader, 'must be "message"')

export function messageReader(form: Form): Read<Message> {
  const fields = shape<Given>({
    kind: messageKind,
    messageId: required(name, { fallback: '' }),
    contextId: word,
    taskId: word,
    role: required(role, { fallback: 'ROLE_AGENT' }),
    parts: required(list(partReader(form), 1), {
      fallback: [],
      names: form === 'json' ? ['parts', 'content'] : ['content', 'parts'],
    }),
    metadata: struct,
    extensions: words,
    referenceTaskIds: words,
    inputRequest: json,
  })
  return then(fields, (given) => {
    const message = given.inputRequest === undefined ? given : questionOf(given)
    return form === 'proto' ? referencesOf(message) : message
  })
}

/** Some peers put the question of a client tool beside the parts; extension data belongs under its URI (B-146). */
function questionOf(given: Given): Message {
  const { inputRequest, ...message } = given
  const ours = message.metadata?.[clientToolsExtension]
  const extended = { ...(isBag(ours) ? ours : {}), inputRequest: inputRequest as Json }
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

export function writeMessage(message: Message, form: Form): Record<string, unknown> {
  const parts = message.parts.map((part) => writePart(part, form))
  const role = vocabularyOf[form].roles[message.role]
  if (form === 'json') {
    const out = { kind: 'message', messageId: message.messageId, role, parts }
    return carry(out, message, 'contextId', 'taskId', 'metadata', 'extensions', 'referenceTaskIds')
  }
  const out = { messageId: message.messageId, role, content: parts }
  const references = message.referenceTaskIds
  if (references === undefined) return carry(out, message, 'contextId', 'taskId', 'metadata', 'extensions')
  const metadata = { ...message.metadata, [referencesKey]: references }
  return carry(out, { ...message, metadata }, 'contextId', 'taskId', 'metadata', 'extensions')
}

export function artifactReader(form: Form): Read<Artifact> {
  return shape<Artifact>({
    artifactId: required(name, { fallback: '' }),
    name: word,
    description: word,
    parts: required(list(partReader(form), 1), { fallback: [] }),
    metadata: struct,
    extensions: words,
  })
}

export function writeArtifact(artifact: Artifact, form: Form): Record<string, unknown> {
  const out = carry({}, artifact, 'artifactId', 'name', 'description')
  out['parts'] = artifact.parts.map((part) => writePart(part, form))
  return carry(out, artifact, 'metadata', 'extensions')
}
