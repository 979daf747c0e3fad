/**
 * Tools that run here, at the client, when an agent asks for them (S2-13, S2-14). Loaded with the first chat that has
 * any, or with the first question that is asked in the words of the extension. A tool that is not there or fails is an
 * answer as well: the agent can read it and do something else.
 */
import { clientToolsExtension as uri, credentialsExtension } from '../model/extension.ts'
import { asksForSecret, authRequestIn } from '../model/sensitive.ts'
import type { DataPart, Json, Message, Part, Struct } from '../model/task.ts'
import { textOf } from './answer.ts'
import type { ChatOptions, ClientTool, InputQuestion, Saying } from './contract.ts'

type Tools = NonNullable<ChatOptions['tools']>

/** What is said, with the tools that we have. */
export function withTools(saying: Saying, tools: Tools): Saying {
  const message = messageOf(saying)
  const ours = message.metadata?.[uri]
  const listed = Object.entries(tools).map(([name, tool]) => {
    if (typeof tool === 'function') return { name }
    const { description, inputSchema } = tool
    return {
      name,
      ...(description !== undefined ? { description } : {}),
      ...(inputSchema !== undefined ? { inputSchema } : {}),
    }
  })
  return { ...message, metadata: { ...message.metadata, [uri]: { ...(isStruct(ours) ? ours : {}), tools: listed } } }
}

/** `undefined`: nobody here can answer. */
export async function reply(
  asked: InputQuestion,
  { tools, onInputRequired }: ChatOptions,
  signal: AbortSignal,
): Promise<Saying | undefined> {
  const calls = (asked.message?.parts ?? []).flatMap(callIn)
  const request = requestIn(asked.message)
  if (tools !== undefined && calls.length === 0) {
    // Peers that have no calls name the tool where they ask.
    const name = [request?.['name'], request?.['tool']].find((given) => typeof given === 'string')
    if (name !== undefined && Object.hasOwn(tools, name)) calls.push(callOf({ ...request, name }))
  }
  if (tools !== undefined && calls.length > 0) {
    const parts = await Promise.all(calls.map((call) => run(call, tools, signal)))
    return { parts, referenceTaskIds: [asked.task.id] }
  }
  const { requestId, prompt } = request ?? {}
  const sensitive = asksForSecret(asked.message)
  const auth = asked.message?.parts.map(authRequestIn).find((given) => given !== undefined)
  const schemes = auth?.['securitySchemes']
  const answer = await onInputRequired?.({
    ...asked,
    text: asked.text === '' && typeof prompt === 'string' ? prompt : asked.text,
    sensitive,
    ...(typeof requestId === 'string' ? { requestId } : {}),
    ...(isStruct(schemes) ? { schemes: schemes as unknown as NonNullable<InputQuestion['schemes']> } : {}),
  })
  if (answer === undefined || answer === null) return undefined
  if (typeof requestId === 'string') return answerTo(requestId, sensitive, messageOf(answer), asked.task.id)
  return sensitive ? secretly(messageOf(answer), schemes) : answer
}

/** As credentials, which the peer's log does not keep: a text as what it is, all else marked (B-156, B-161). */
function secretly(answer: ReturnType<typeof messageOf>, schemes: Json | undefined): Saying {
  const [scheme, ...others] = isStruct(schemes) ? Object.keys(schemes) : []
  const about = scheme !== undefined && others.length === 0 ? { scheme } : {}
  const metadata = { [credentialsExtension]: { type: 'credentials' } }
  const parts = answer.parts.map((part): Part =>
    'text' in part
      ? { data: { ...about, credentials: part.text }, metadata }
      : { ...part, metadata: { ...part.metadata, ...metadata } },
  )
  return { ...answer, parts }
}

/** Once more as the result that peers of the extension wait for. A secret is said only there, where it is marked as one. */
function answerTo(requestId: string, isSecret: boolean, answer: ReturnType<typeof messageOf>, taskId: string): Saying {
  const data = answer.parts.find((part) => 'data' in part)
  const result = data === undefined ? textOf(answer.parts) : data.data
  const parts = isSecret ? answer.parts.filter((part) => !('text' in part) && part !== data) : answer.parts
  const mark = isSecret ? { sensitive: true } : {}
  return {
    ...answer,
    referenceTaskIds: [...(answer.referenceTaskIds ?? []), taskId],
    parts: [...parts, resultPart({ toolUseId: requestId, result }, mark)],
  }
}

interface Call {
  readonly toolUseId: string
  readonly name: string
  readonly input: Json
}

function callIn(part: Part): Call[] {
  const about = part.metadata?.[uri]
  return isStruct(about) && about['type'] === 'tool-use' && 'data' in part && isStruct(part.data)
    ? [callOf(part.data)]
    : []
}

/** As models and their frameworks name these things. */
function callOf(data: Struct): Call {
  const word = (...names: string[]): string =>
    names.map((name) => data[name]).find((value) => typeof value === 'string') ?? ''
  return {
    toolUseId: word('toolUseId', 'requestId', 'id'),
    name: word('name', 'toolName', 'tool'),
    input: data['input'] ?? data['arguments'] ?? data['args'] ?? {},
  }
}

async function run({ toolUseId, name, input }: Call, tools: Tools, signal: AbortSignal): Promise<DataPart> {
  const failed = (reason: string, message: string): DataPart => resultPart({ toolUseId, error: { reason, message } })
  if (!Object.hasOwn(tools, name)) {
    const known = Object.keys(tools).join(', ')
    return failed('UNKNOWN_TOOL', `There is no tool "${name}" here, only: ${known}`)
  }
  const tool = tools[name] as ClientTool
  try {
    const act = typeof tool === 'function' ? tool : tool.run
    const value = await act(input, { name, toolUseId, signal })
    // What JSON cannot hold is a failure of the tool, not of the conversation.
    return resultPart({ toolUseId, result: JSON.parse(JSON.stringify(value) ?? 'null') as Json })
  } catch (reason) {
    signal.throwIfAborted()
    return failed('TOOL_EXECUTION_FAILED', reason instanceof Error ? reason.message : String(reason))
  }
}

function resultPart(data: Struct, more: Struct = {}): DataPart {
  return { data, metadata: { [uri]: { type: 'tool-result', ...more } } }
}

function requestIn(message: Message | undefined): Struct | undefined {
  const about = message?.metadata?.[uri]
  const request = isStruct(about) ? about['inputRequest'] : undefined
  return isStruct(request) ? request : undefined
}

function messageOf(saying: Saying): Exclude<Saying, string | readonly Part[]> {
  if (typeof saying === 'string') return { parts: [{ text: saying }] }
  return 'parts' in saying ? saying : { parts: saying }
}

function isStruct(value: Json | undefined): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
